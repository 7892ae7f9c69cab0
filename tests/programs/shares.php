<?php
// SPDX-License-Identifier: Apache-2.0
// Burns CPU time in functions and lines by turns, and says how much each had: "NAME LINE NS", LINE 0 for all of it.
$spent = [];

function now(): int
{
    $use = getrusage();
    return ($use['ru_utime.tv_sec'] + $use['ru_stime.tv_sec']) * 1000000000
        + ($use['ru_utime.tv_usec'] + $use['ru_stime.tv_usec']) * 1000;
}

function tell(string $name, string $line, int $ns): void
{
    global $spent;
    $spent["$name $line"] = ($spent["$name $line"] ?? 0) + $ns;
}

function two_lines(int $ns): void
{
    $begin = now();
    while (now() - $begin < $ns)
        for ($i = 0; $i < 2000; $i++) ; // LINE A
    $middle = now();
    while (now() - $middle < 2 * $ns)
        for ($i = 0; $i < 2000; $i++) ; // LINE B
    $end = now();
    tell('two_lines', '0', $end - $begin);
    tell('two_lines', 'A', $middle - $begin);
    tell('two_lines', 'B', $end - $middle);
}

function recursive(int $depth, int $ns): void
{
    if ($depth) {
        recursive($depth - 1, $ns);
        return;
    }
    $begin = now();
    while (now() - $begin < $ns)
        for ($i = 0; $i < 2000; $i++) ;
    tell('recursive', '0', now() - $begin);
}

function generator(int $ns)
{
    $begin = now();
    while (now() - $begin < $ns)
        for ($i = 0; $i < 2000; $i++) ;
    tell('generator', '0', now() - $begin);
    yield 1;
}

class Item
{
    public static function callback(int $ns): int
    {
        $begin = now();
        while (now() - $begin < $ns)
            for ($i = 0; $i < 2000; $i++) ;
        tell('Item::callback', '0', now() - $begin);
        return 1;
    }
}

function run(int $rounds): void
{
    for ($round = 0; $round < $rounds; $round++) {
        two_lines(3000000);
        recursive(20, 2000000);
        foreach (generator(1000000) as $x) ;
        array_map('Item::callback', [2500000]);
    }
}

run((int)$argv[1]);
foreach ($spent as $name => $ns)
    echo "$name $ns\n";
