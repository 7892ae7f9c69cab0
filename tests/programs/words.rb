# SPDX-License-Identifier: Apache-2.0
# Tells what its stack was and from when to when, in the form of words.py: what it was is Ruby's own word (Thread#backtrace_locations) when a
# section begins.
ROUND = 8000
STACKS = {}
SECTIONS = []

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def cpu
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def native_id
  Thread.current.respond_to?(:native_thread_id) ? Thread.current.native_thread_id : syscall(186)
end

# To be called on the line where a section begins; its work is in the next line, its end @last lines further.
def section(last, inner = '-')
  frames = Thread.current.backtrace_locations(2)
  first = frames[0].lineno
  names = frames.map { |frame| "#{frame.label.tr(' ', '_')}:#{frame.lineno}" }
  names[0] = "#{frames[0].label.tr(' ', '_')}:#{first + 1}"
  key = "#{first} #{first + last} #{inner} #{names.reverse.join(';')}"
  number = STACKS[key] ||= STACKS.length
  used = cpu
  [number, used, now]
end

def over(begun)
  SECTIONS << [native_id, begun[2], now, cpu - begun[1], begun[0]]
end

def two_lines
  begun = section(2)
  i = 0; while i < ROUND do i += 1 end
  over(begun)

  begun = section(2)
  i = 0; while i < 2 * ROUND do i += 1 end
  over(begun)
end

def recursive(depth)
  return recursive(depth - 1) if depth > 0
  begun = section(2)
  i = 0; while i < ROUND do i += 1 end
  over(begun)
end

def generator
  Enumerator.new do |out|
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
    out << 1
  end
end

class Item
  def <=>(other)
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
    0
  end

  def method_missing(name)
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
  end

  def self.of_class
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
  end

  define_method(:defined) do
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
  end
end

def raises
  raise_deep(12)
rescue ArgumentError
  begun = section(2)
  i = 0; while i < ROUND do i += 1 end
  over(begun)
end

def raise_deep(depth)
  raise_deep(depth - 1) if depth > 0
  raise ArgumentError
ensure
  if depth == 6
    begun = section(2)
    i = 0; while i < ROUND do i += 1 end
    over(begun)
  end
end

def calls_c
  text = 'x' * 400
  begun = section(2, 'sum,*,crypt')
  text.sum; (text * 50).sum; (text * 50).sum; (text * 200).crypt('ab')
  over(begun)
  [2, 1].sort_by { |x| two_lines; x }
end

def yields
  yield 1
end

def spread_out
  [
    1,
    two_lines,
    recursive(
      2
    )
  ].compact
end

module Refined
  refine String do
    def refined
      two_lines
    end
  end
end
using Refined

module Mixed
  def mixed
    two_lines
    super if defined?(super)
  end
end

class Base
  def mixed
    two_lines
  end
end

class Derived < Base
  prepend Mixed
  include Comparable

  def mixed
    two_lines
    super
  end

  def each
    yield self
    two_lines
  end

  def respond_to_missing?(*)
    two_lines
    true
  end

  class << self
    attr_writer :made

    def made
      Class.new { define_singleton_method(:call) { two_lines } }.call
    end
  end
  include Enumerable
end

def called_back
  Derived.new.mixed
  Derived.new.map { |_| two_lines }
  Derived.new.respond_to?(:what)
  Derived.made
  'text'.refined
  catch(:done) { two_lines; throw :done }
  add = ->(a, b) { two_lines }
  add.curry[1][2]
  method(:two_lines).unbind.bind(self).call
  [1].each_with_index.map { |_, _| two_lines }
  (1..2).lazy.map { |_| two_lines }.first(1)
  Hash.new { |_, _| two_lines }[:none]
  { 1 => 2 }.each_pair { |_, _| two_lines }
  'aa'.gsub(/a/) { |_| two_lines; 'b' }
  [3, 1, 2].max_by { |_| two_lines; 1 }
  Integer.class_exec { two_lines }
  proc { |x| two_lines }.(1)
  begin
    Integer('x')
  rescue ArgumentError => e
    two_lines
  else
    0
  ensure
    two_lines
  end
  inner = Fiber.new { Fiber.yield two_lines; two_lines }
  Fiber.new { inner.resume; inner.resume }.resume
  ObjectSpace.each_object(Class).first(1).each { two_lines }
end

def run(till)
  closure = -> { two_lines }
  while now < till
    two_lines
    recursive(30)
    closure.call
    generator.each { |_| two_lines }
    generator.next
    [Item.new, Item.new].sort
    Item.new.unknown
    Item.of_class
    Item.new.defined
    raises
    calls_c
    spread_out
    yields { |_| yields { |_| two_lines } }
    2.times { two_lines }
    instance_eval { two_lines }
    eval("\n\ntwo_lines\n", binding, 'made up', 1)
    Fiber.new { two_lines }.resume
    recursive(300)
    called_back
  end
end

def main(seconds)
  till = now + (seconds * 1e9).to_i
  other = Thread.new { run(till) }
  run(till)
  other.join
end

main(ARGV[0].to_f)
STACKS.each { |key, number| puts "STACK #{number} #{key}" }
SECTIONS.each { |section| puts "AT #{section.join(' ')}" }
