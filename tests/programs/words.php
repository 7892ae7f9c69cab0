<?php
// SPDX-License-Identifier: Apache-2.0
// Tells what its stack was and from when to when, in the form of words.py: what it was is PHP's own word (debug_backtrace) when a section begins.
$stacks = [];
$sections = [];
const ROUND = 30000;

function cpu(): int
{
    $use = getrusage();
    return ($use['ru_utime.tv_sec'] + $use['ru_stime.tv_sec']) * 1000000000
        + ($use['ru_utime.tv_usec'] + $use['ru_stime.tv_usec']) * 1000;
}

// To be called on the line where a section begins; its work is in the next line, its end $last lines further.
function section(int $last, string $inner = '-'): array
{
    global $stacks;
    $calls = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
    $first = $calls[0]['line'];
    $names = [];
    foreach ($calls as $i => $call) {
        $caller = $calls[$i + 1] ?? null;
        if ($caller && in_array($caller['function'], ['include', 'require']))
            $name = '<main>';
        else
            $name = $caller ? explode("\0", $caller['class'] ?? '')[0] . ($caller['type'] ?? '') . $caller['function'] : '<main>';
        array_unshift($names, str_replace('->', '::', $name) . ':' . ($i ? $call['line'] ?? 0 : $first + 1));
    }
    $key = $first . ' ' . ($first + $last) . " $inner " . implode(';', $names);
    $stacks[$key] ??= count($stacks);
    $used = cpu();
    return [$stacks[$key], $used, hrtime(true)];
}

function over(array $begun): void
{
    global $sections;
    $sections[] = [$begun[2], hrtime(true), cpu() - $begun[1], $begun[0]];
}

function two_lines(): void
{
    $begun = section(2);
    for ($i = 0; $i < ROUND; $i++);
    over($begun);

    $begun = section(2);
    for ($i = 0; $i < 2 * ROUND; $i++);
    over($begun);
}

function recursive(int $depth): void
{
    if ($depth) {
        recursive($depth - 1);
        return;
    }
    $begun = section(2);
    for ($i = 0; $i < ROUND; $i++);
    over($begun);
}

function generator()
{
    $begun = section(2);
    for ($i = 0; $i < ROUND; $i++);
    over($begun);
    yield 1;
    $begun = section(2);
    for ($i = 0; $i < ROUND; $i++);
    over($begun);
}

function delegates()
{
    yield from generator();
}

class Item
{
    public static function callback(int $x): int
    {
        $begun = section(2);
        for ($i = 0; $i < ROUND; $i++);
        over($begun);
        return $x;
    }

    public function __get(string $name): int
    {
        $begun = section(2);
        for ($i = 0; $i < ROUND; $i++);
        over($begun);
        return 1;
    }

    public function compare(int $a, int $b): int
    {
        two_lines();
        return $a <=> $b;
    }
}

function raises(): void
{
    try {
        raise_deep(12);
    } catch (Exception $e) {
        $begun = section(2);
        for ($i = 0; $i < ROUND; $i++);
        over($begun);
    }
}

function raise_deep(int $depth): void
{
    try {
        if ($depth)
            raise_deep($depth - 1);
        throw new Exception();
    } finally {
        if ($depth == 6) {
            $begun = section(2);
            for ($i = 0; $i < ROUND; $i++);
            over($begun);
        }
    }
}

function calls_c(): void
{
    $begun = section(2, 'array_sum,range');
    array_sum(range(0, 8 * ROUND));
    over($begun);
    $begun = section(2, 'str_repeat,md5');
    str_repeat(md5('x'), ROUND);
    over($begun);
    $item = new Item();
    $both = [2, 1];
    usort($both, [$item, 'compare']);
}

function spread_out(): int
{
    return max(
        1,
        count([
            two_lines(),
        ]),
        (int)recursive(
            2));
}

trait Shared
{
    public function shared(): void
    {
        two_lines();
    }

    public static function __callStatic(string $name, array $values): void
    {
        two_lines();
    }
}

class Dies
{
    use Shared;

    public function __call(string $name, array $values): void
    {
        two_lines();
    }

    public function __destruct()
    {
        two_lines();
    }
}

function generates()
{
    foreach (generator() as $value) {
        two_lines();
        yield $value => two_lines();
    }
}

function dies(): void
{
    $item = new Dies();
    $item->shared();
    $item->unknown();
    Dies::other();
}

function called_back(): void
{
    $made = new class {
        public function __invoke(...$values): int
        {
            two_lines();
            return 0;
        }
    };
    $both = [2, 1];
    usort($both, $made);
    uasort($both, fn ($a, $b) => two_lines() ?? 0);
    array_walk($both, function ($value) {
        two_lines();
    });
    call_user_func_array($made, $both);
    array_reduce([1], static fn ($a, $b) => $made($b));
    preg_replace_callback('/a/', fn ($match) => two_lines() ?? 'b', 'a');
    iterator_to_array(new CallbackFilterIterator(new ArrayIterator([1]), $made));
}

function fibers(): void
{
    $fiber = new Fiber(function () {
        two_lines();
        Fiber::suspend();
        recursive(3);
    });
    $fiber->start();
    $fiber->resume();
}

function run(int $until): void
{
    $closure = function (): void {
        two_lines();
    };
    while (hrtime(true) < $until) {
        two_lines();
        recursive(30);
        $closure();
        foreach (generator() as $_);
        foreach (delegates() as $_);
        array_map('Item::callback', [1, 2]);
        (new Item())->made;
        raises();
        calls_c();
        spread_out();
        foreach (generates() as $_);
        dies();
        called_back();
        recursive(400);
        if (PHP_VERSION_ID >= 80100)
            fibers();
    }
}

run(hrtime(true) + (int)($argv[1] * 1e9));
foreach ($stacks as $key => $number)
    echo "STACK $number $key\n";
foreach ($sections as $section)
    echo 'AT ', getmypid(), ' ', implode(' ', $section), "\n";
