'use strict';
// The program of a test file ends with it: each file has modules of its own.

const { close } = require('../lib/process');

afterAll(close); // of jest
