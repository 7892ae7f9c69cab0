/* SPDX-License-Identifier: Apache-2.0 */
/* A program with much inlining, for debug information to describe. It is never run. */
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace shapes {
namespace {
struct shape {
	virtual ~shape() = default;
	virtual double area(double scale) const = 0;
};

template <int Sides> struct polygon final : shape {
	std::vector<std::string> names;
	double side = Sides * 1.5;

	double area(double scale) const override
	{
		auto longest = std::max_element(names.begin(), names.end(),
						[](const std::string &a, const std::string &b) {
							return a.size() < b.size();
						});
		double base = side * scale;

		return longest == names.end() ? base : base * static_cast<double>(longest->size());
	}
};
} // namespace

template <typename T> T blend(T a, T b)
{
	auto mix = [&](T weight) { return weight * a + b; };

	return mix(a) + mix(b);
}

class registry {
	std::map<std::string, std::unordered_map<int, double>> table;
	std::vector<std::unique_ptr<shape>> all;

    public:
	registry()
	{
		all.emplace_back(new polygon<3>);
		all.emplace_back(new polygon<4>);
		all.emplace_back(new polygon<12>);
	}

	double add(int i)
	{
		std::string key = std::to_string(i % 37);

		table[key][i] += blend(i * 1.5, 2.0) + blend(i, 3);
		return std::accumulate(all.begin(), all.end(), 0.0, [i](double sum, const auto &one) {
			return sum + one->area(i);
		});
	}

	std::vector<std::string> keys() const
	{
		std::vector<std::string> out;

		for (const auto &[key, values] : table) {
			if (!values.empty())
				out.push_back(key + "/" + std::to_string(values.size()));
		}
		std::sort(out.begin(), out.end(), std::greater<>());
		return out;
	}
};
} // namespace shapes

int main(int argc, char **argv)
{
	shapes::registry r;
	double total = 0;

	for (int i = 0; i < argc * 1000; i++)
		total += r.add(i);
	return total > 0 && r.keys().size() > static_cast<size_t>(argv[0][0]);
}
