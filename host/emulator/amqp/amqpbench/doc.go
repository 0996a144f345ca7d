// Package amqpbench holds the AMQP server beside brokers written by others: one
// client (go-amqp), the same program, one run.
//
// RabbitMQ is measured where its server is installed (Debian: rabbitmq-server,
// with its plugin rabbitmq_amqp1_0) and REDELIVER_RABBITMQ has the address of one
// that runs; the comment of the test says how to start it. Further benchmarks
// over a socket are in host/emulator/amqp/bus.
package amqpbench
