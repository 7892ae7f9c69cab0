// SPDX-License-Identifier: Apache-2.0
// A program with much inlining, for debug information to describe and for a recording to sample.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

trait Shape {
    fn area(&self, scale: f64) -> f64;
}

struct Polygon<const SIDES: usize> {
    names: Vec<String>,
}

impl<const SIDES: usize> Shape for Polygon<SIDES> {
    fn area(&self, scale: f64) -> f64 {
        let longest = self.names.iter().map(|n| n.len()).max().unwrap_or(SIDES);
        (longest * SIDES) as f64 * scale
    }
}

fn words(seed: u64) -> impl Iterator<Item = String> {
    (0..2000u64).map(move |i| format!("{:x}", (i * seed).rotate_left(17) % 4093))
}

fn main() {
    let mut table: BTreeMap<String, HashMap<u64, f64>> = BTreeMap::new();
    let mut shapes: Vec<Box<dyn Shape>> = vec![Box::new(Polygon::<3> { names: vec![] })];
    let mut out = String::new();
    for round in 0..60u64 {
        for (i, word) in words(round + 7).enumerate() {
            *table.entry(word).or_default().entry(i as u64 % 13).or_insert(0.0) += i as f64;
        }
        shapes.push(Box::new(Polygon::<5> { names: words(round).take(40).collect() }));
        let sum: f64 = shapes.iter().map(|s| s.area(round as f64)).sum();
        let mut all: Vec<_> = table.iter().flat_map(|(k, v)| v.iter().map(move |(a, b)| (k, a, b))).collect();
        all.sort_by(|x, y| x.2.partial_cmp(y.2).unwrap().then(x.0.cmp(y.0)));
        write!(out, "{} {:.3} {:?}", all.len(), sum, all.first()).unwrap();
    }
    println!("{}", out.len());
}
