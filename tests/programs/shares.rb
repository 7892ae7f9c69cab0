# SPDX-License-Identifier: Apache-2.0
# Burns CPU time in functions and lines by turns, and says how much each had: "NAME LINE NS", LINE 0 for all of it; and
# "STACK FUNCTION;...", root first, as Ruby itself tells its stack there.
# Recursion, a closure, an enumerator on a fiber, a method called back from C, an exception, a second thread.

def clock
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

SPENT = Hash.new(0)
STACKS = {}
def tell(name, line, ns)
  SPENT["#{name} #{line}"] += ns
  STACKS[name] ||= caller_locations(1).map(&:label).reverse.join(";")
end

def burn(ns)
  start = clock
  while clock - start < ns
    i = 0
    while i < 1000 do i += 1 end
  end
  clock - start
end

def two_lines(ns)
  start = clock
  while clock - start < ns do i = 0; while i < 400 do i += 1 end end # LINE A
  middle = clock
  while clock - middle < 2 * ns do i = 0; while i < 400 do i += 1 end end # LINE B
  stop = clock
  tell("two_lines", 0, stop - start)
end

def recursive(depth, ns)
  return recursive(depth - 1, ns) if depth > 0
  tell("recursive", 0, burn(ns))
end

def generator(ns)
  Enumerator.new { |out| tell("generator", 0, burn(ns)); out << 1 }.next
end

class Item
  attr_reader :ns
  def initialize(ns)
    @ns = ns
  end

  def <=>(other)
    tell("<=>", 0, burn(@ns))
    0
  end
end

def called_back(ns)
  [Item.new(ns), Item.new(ns)].sort
end

def raises(ns)
  raise ArgumentError
rescue ArgumentError
  tell("raises", 0, burn(ns))
end

def run(rounds)
  rounds.times do
    two_lines(2_000_000)
    recursive(6, 3_000_000)
    generator(4_000_000)
    called_back(5_000_000)
    raises(2_000_000)
  end
end

def main(rounds)
  run(rounds - rounds / 4)
  Thread.new { run(rounds / 4) }.join
end

main(ARGV[0].to_i)
SPENT.each { |name, ns| puts "#{name} #{ns}" }
STACKS.each_value { |stack| puts "STACK #{stack}" }
