#!/usr/bin/env perl
# The orders app as an HTTP custom handler: any program that serves HTTP will do. This one
# needs Perl 5.14 with its own modules.
#
#     redeliver start functions/samples/custom
#     redeliver send queue orders '{"id":"7","fail":true}' --dir functions/samples/custom
#
# A request is POST /<function> with {"Data": {...}, "Metadata": {...}}; a text in Data is
# JSON inside JSON. A status outside 2xx is a failure, and the retry policy applies.

use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my $json  = JSON::PP->new->utf8->canonical;     # the text of requests and answers
my $value = JSON::PP->new->allow_nonref;        # JSON inside JSON

sub place_order {
    my ($data) = @_;
    my $order = eval { $value->decode($data->{req}{Body} // '') };
    if (ref $order ne 'HASH' || !$order->{id}) {
        return { Outputs => { res => { statusCode => 400, body => 'want {"id":"..."}' } } };
    }
    return { Outputs => { res => { statusCode => 202, body => "order $order->{id} accepted" }, orders => $order } };
}

sub process_order {
    my ($data, $metadata) = @_;
    my $order   = $value->decode($value->decode($data->{message}));
    my $retry   = $metadata->{RetryContext};
    my $attempt = $retry ? $retry->{RetryCount} : 0;
    if ($order->{fail} || $attempt < ($order->{flaky} // 0)) {
        die "payment service unavailable, retry_count $attempt\n";
    }
    return { Outputs => { invoices => { order => $order->{id} } }, Logs => ["order $order->{id} processed"] };
}

sub send_invoice {
    my ($data) = @_;
    my $invoice = $value->decode($value->decode($data->{message}));
    return { Logs => ["invoice sent for order $invoice->{order}"] };
}

sub heartbeat { return { Logs => ['still here'] } }

my %functions = (
    '/PlaceOrder'   => \&place_order,
    '/ProcessOrder' => \&process_order,
    '/SendInvoice'  => \&send_invoice,
    '/Heartbeat'    => \&heartbeat,
);

# part reads so many bytes.
sub part {
    my ($client, $length) = @_;
    my $got = read($client, my $text, $length);
    return defined $got && $got == $length ? $text : undef;
}

# chunks reads a body that the host sends in chunks: it always does.
sub chunks {
    my ($client) = @_;
    my $body = '';
    while (defined(my $line = readline $client)) {
        my ($length) = $line =~ /^([0-9a-f]+)/i or return undef;
        my $text = part($client, hex($length) + 2) // return undef;    # with its line end
        return $body if hex($length) == 0;
        $body .= substr $text, 0, -2;
    }
    return undef;
}

# serve answers the one request of a connection.
sub serve {
    my ($client) = @_;
    my ($method, $path) = split ' ', (readline($client) // return);
    my ($length, $chunked) = (0, 0);
    while (defined(my $line = readline $client)) {
        last if $line =~ /^\r?\n$/;
        $length  = $1 if $line =~ /^content-length:\s*(\d+)/i;
        $chunked = 1  if $line =~ /^transfer-encoding:\s*chunked/i;
    }
    my ($status, $answer) = ('200 OK', {});
    if ($method eq 'POST') {
        my $body = $chunked ? chunks($client) : part($client, $length);
        return if !defined $body;    # the caller has gone
        $answer = eval {
            my $function = $functions{$path} or die "handler.pl has no function for $path\n";
            my $request = $json->decode($body);
            $function->($request->{Data}, $request->{Metadata});
        };
        if (!$answer) {
            chomp(my $error = $@);
            ($status, $answer) = ('500 Internal Server Error', { error => $error });
        }
    }
    my $text = $json->encode($answer);
    print $client "HTTP/1.1 $status\r\nContent-Type: application/json\r\n",
        'Content-Length: ', length $text, "\r\nConnection: close\r\n\r\n", $text;
}

my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1',
    LocalPort => $ENV{FUNCTIONS_CUSTOMHANDLER_PORT},
    Listen    => 128,
    ReuseAddr => 1,
) or die "cannot listen: $!\n";
$SIG{CHLD} = 'IGNORE';    # the system forgets the processes that have answered
while (1) {
    my $client = $server->accept or next;
    my $child = fork // die "cannot fork: $!\n";
    if ($child) { close $client; next }
    close $server;
    serve($client);
    exit 0;
}
