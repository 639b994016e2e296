//! Questions about layout and memory, asked of tensor-core and of the published edgefirst-tensor.
//!
//! Without arguments prints a line a question: nanoseconds and instructions of both, and their
//! ratio. Nothing is asserted. `tensor-bench QUESTION SIDE TIMES` asks one side only; that is how
//! instructions are counted, by the difference of two numbers of times.

mod exchange;
mod instructions;
mod question;
mod timing;

use std::{env, process::ExitCode};

use question::{Question, Side, World};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let world = World::new();
    match arguments.as_slice() {
        [] => {
            compare(&world);
            ExitCode::SUCCESS
        }
        [question, side, times] => {
            let (question, side) = (Question::named(question), Side::named(side));
            match (question, side, times.parse()) {
                (Some(question), Some(side), Ok(times)) => {
                    world.ask(question, side, times);
                    ExitCode::SUCCESS
                }
                _ => usage(),
            }
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: tensor-bench [QUESTION ours|theirs TIMES]");
    ExitCode::FAILURE
}

fn compare(world: &World) {
    let counter = instructions::Counter::find();
    println!("instructions: {counter}");
    println!(
        "{:<34} {:>10} {:>10} {:>8}   {:>10} {:>10} {:>8}",
        "question", "ours ns", "theirs ns", "ratio", "ours ins", "theirs ins", "ratio"
    );
    for question in Question::ALL {
        if !world.has(question) {
            println!("{:<34} skipped: no dma-heap here", question.description());
            continue;
        }
        let [ours, theirs] = timing::side_by_side(world, question);
        let counted = Side::ALL.map(|side| counter.count(question, side));
        print!("{:<34} {ours:>10.1} {theirs:>10.1} {:>8.3}", question.description(), ours / theirs);
        match counted {
            [Some(ours), Some(theirs)] => {
                println!("   {ours:>10.0} {theirs:>10.0} {:>8.3}", ours / theirs);
            }
            _ => println!("   {:>10} {:>10} {:>8}", "-", "-", "-"),
        }
    }
    println!("ratio: ours / theirs, so below 1 is less than the published crate takes");
    println!("their tables and strides are a Vec, ours are inline; their region is a whole tensor");
    println!("over the same memory, ours the layout alone; the line after it compares tensors");
    println!("a copy is counted as a hundredth");
}
