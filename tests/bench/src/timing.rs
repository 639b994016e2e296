//! Nanoseconds, both sides in turn so that neither has the quieter machine.

use std::time::Instant;

use crate::question::{Question, Side, World};

const ROUNDS: usize = 41;
const TIMES: usize = 20_000;

/// The median nanoseconds of one answer, ours then theirs.
pub fn side_by_side(world: &World, question: Question) -> [f64; 2] {
    let mut rounds: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (side, times) in Side::ALL.into_iter().zip(&mut rounds) {
            let begin = Instant::now();
            world.ask(question, side, TIMES);
            times.push(begin.elapsed().as_secs_f64() * 1e9 / TIMES as f64);
        }
    }
    rounds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
