/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with much inlining, for debug information to describe and for a recording to sample:
 * for about two seconds of CPU time.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

using value = std::variant<int, double, std::string>;

std::vector<std::string> make_words(std::mt19937 &random, size_t count)
{
	std::vector<std::string> words(count);

	for (auto &word : words) {
		word.resize(1 + random() % 20);
		std::generate(word.begin(), word.end(),
			      [&] { return static_cast<char>('a' + random() % 26); });
	}
	return words;
}

size_t match(const std::vector<std::string> &words)
{
	static const std::regex shape("^([a-m]+)([n-z]*)(.*[aeiou].?)$", std::regex::optimize);
	static const std::regex other("(ab|c[de]+|[^x-z]{3,5}){1,3}", std::regex::icase);
	std::smatch found;
	size_t total = 0;

	for (const auto &word : words) {
		if (std::regex_match(word, found, shape))
			total += found[1].length();
		total += std::distance(std::sregex_iterator(word.begin(), word.end(), other),
				       std::sregex_iterator());
	}
	return total;
}

size_t containers(const std::vector<std::string> &words)
{
	std::map<std::string, std::list<size_t>> by_name;
	std::unordered_map<std::string, std::deque<double>> by_hash;
	std::set<std::pair<size_t, std::string>> by_length;

	for (size_t i = 0; i < words.size(); i++) {
		by_name[words[i]].push_front(i);
		by_hash[words[i].substr(0, 2)].push_back(std::sqrt(static_cast<double>(i)));
		by_length.emplace(words[i].size(), words[i]);
	}
	for (auto &[name, places] : by_name)
		places.sort(std::greater<size_t>());
	for (auto &[name, values] : by_hash)
		std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
	for (auto it = by_length.begin(); it != by_length.end();)
		it = it->first % 2 ? by_length.erase(it) : std::next(it);
	return by_name.size() + by_hash.size() + by_length.size();
}

size_t streams(const std::vector<std::string> &words)
{
	std::ostringstream out;
	std::string again;
	double sum = 0;

	for (const auto &word : words)
		out << std::setw(12) << word << ' ' << std::hex << word.size() << ' ' << std::fixed
		    << word.size() / 7.0 << '\n';
	std::istringstream in(out.str());
	for (std::string word, length; in >> word >> length >> sum;)
		again += word;
	return again.size() + static_cast<size_t>(sum);
}

size_t sorts(std::mt19937 &random, size_t count)
{
	std::vector<value> values(count);
	std::vector<long double> numbers(count);
	auto size = [](const value &v) {
		return std::visit([](const auto &x) -> double {
			if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::string>)
				return std::stod(x);
			else
				return x;
		}, v);
	};

	for (auto &v : values) {
		switch (random() % 3) {
		case 0: v = static_cast<int>(random()); break;
		case 1: v = random() / 3.0; break;
		default: v = std::to_string(random());
		}
	}
	std::stable_sort(values.begin(), values.end(),
			 [&](const auto &a, const auto &b) { return size(a) < size(b); });
	std::transform(values.begin(), values.end(), numbers.begin(), size);
	std::partial_sum(numbers.begin(), numbers.end(), numbers.begin());
	std::make_heap(numbers.begin(), numbers.end());
	std::sort_heap(numbers.begin(), numbers.end());
	return static_cast<size_t>(std::abs(std::accumulate(numbers.begin(), numbers.end(), 0.0L)));
}

} // namespace

int main()
{
	auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
	std::mt19937 random(7);
	size_t total = 0;

	while (std::chrono::steady_clock::now() < end) {
		auto words = make_words(random, 300);

		total += match(words) + containers(words) + streams(words) + sorts(random, 300);
	}
	std::cout << (total > 0) << std::endl;
}
