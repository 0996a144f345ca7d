#!/bin/sh
exec nc -l "$FUNCTIONS_CUSTOMHANDLER_PORT"
