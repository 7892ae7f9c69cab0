<?php // SPDX-License-Identifier: Apache-2.0
class Db {
	function __construct(private $connection) {}
	function rows(string $sql, array $args = []): array {
		return pg_fetch_all(pg_query_params($this->connection, $sql, $args));
	}
}
class Report {
	function __construct(private Db $db) {}
	function totals(): array {
		$sums = [];
		foreach ($this->customers() as $customer)
			$sums[$customer] = $this->orders($customer);
		return $sums;
	}
	function orders(string $customer): int {
		$sum = 0;
		foreach ($this->db->rows('SELECT price FROM orders WHERE customer = $1', [$customer]) as $row)
			$sum += $row['price'];
		return $sum;
	}
	function customers(): array {
		return array_column($this->db->rows('SELECT id FROM customers'), 'id');
	}
	function mended(): array {
		return array_column($this->db->rows('SELECT customer, sum(price) FROM orders GROUP BY customer'), 'sum', 'customer');
	}
}
$report = new Report(new Db(pg_connect($_SERVER['DATABASE'])));
$sums = match (strtok($_SERVER['REQUEST_URI'], '?')) {
	'/report' => $report->totals(),
	'/mended' => $report->mended(),
	default => [],
};
echo count($sums), ' customers, ', array_sum($sums), "\n";
