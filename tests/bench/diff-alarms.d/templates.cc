// SPDX-License-Identifier: Apache-2.0
// For the compiler to work on.
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct ladder {
	std::map<std::string, std::vector<ladder<N - 1>>> rungs;
	ladder<N - 1> below;
	int climb(const std::string &s) const { return below.climb(s) + (int)rungs.size(); }
};
template <> struct ladder<0> {
	int climb(const std::string &s) const { return std::regex_match(s, std::regex("a+b")); }
};
int main(int argc, char **argv)
{
	ladder<8> l;
	return l.climb(argv[argc - 1]);
}
