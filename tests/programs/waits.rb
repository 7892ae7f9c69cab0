# SPDX-License-Identifier: Apache-2.0
# Waits in two methods, twice as long in one as in the other, while another thread waits for a queue. Says how long.
def short
  sleep 0.02 # LINE SHORT
end

def long
  sleep 0.04 # LINE LONG
end

def waits_for_ever
  Queue.new.pop # LINE EVER
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

spent = { long: 0, short: 0 }
Thread.new { sleep }
Thread.new { waits_for_ever }
ARGV[0].to_i.times do
  %i[short long].each do |name|
    from = clock
    send(name)
    spent[name] += clock - from
  end
end
spent.each { |name, ns| puts "#{name} #{ns}" }
