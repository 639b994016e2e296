//! Instructions of one answer, counted by `perf`, or by `valgrind` where the kernel does not let
//! `perf` count.

use std::{
    env, fmt, fs,
    process::{self, Command},
};

use crate::question::{Question, Side};

const FEW: usize = 1_000;
const MANY: usize = 11_000;

/// What counts instructions on this machine.
#[derive(Clone, Copy, Debug)]
pub enum Counter {
    Perf,
    Callgrind,
    /// Nothing does.
    None,
}

impl Counter {
    /// The first that works.
    pub fn find() -> Self {
        let works = |counter: &Self| counter.run(Question::Strides, Side::Ours, FEW).is_some();
        [Self::Perf, Self::Callgrind].into_iter().find(works).unwrap_or(Self::None)
    }

    /// Instructions of one answer.
    pub fn count(self, question: Question, side: Side) -> Option<f64> {
        let few = self.run(question, side, FEW)?;
        let many = self.run(question, side, MANY)?;
        Some((many - few) / (MANY - FEW) as f64)
    }

    /// Instructions of a whole process that asks `times` times.
    fn run(self, question: Question, side: Side, times: usize) -> Option<f64> {
        // Callgrind writes a profile whether it is wanted or not, and would put a file in the place
        // of `/dev/null`.
        let profile = env::temp_dir().join(format!("tensor-bench.{}", process::id()));
        let mut command = match self {
            Self::Perf => Command::new("perf"),
            Self::Callgrind => Command::new("valgrind"),
            Self::None => return None,
        };
        match self {
            Self::Perf => command.args(["stat", "-x,", "-e", "instructions:u", "--"]),
            Self::Callgrind | Self::None => command
                .arg("--tool=callgrind")
                .arg(format!("--callgrind-out-file={}", profile.display())),
        };
        let output = command
            .arg(env::current_exe().ok()?)
            .args([question.name(), side.name(), &times.to_string()])
            .output();
        // There is none when `perf` counted.
        let _ = fs::remove_file(&profile);
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stderr).ok()?;
        let count = match self {
            Self::Perf => {
                text.lines().find(|line| line.contains("instructions"))?.split(',').next()
            }
            Self::Callgrind | Self::None => {
                text.lines().find_map(|line| line.split("Collected :").nth(1))
            }
        };
        count?.trim().parse().ok()
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Perf => "counted by perf, in user space",
            Self::Callgrind => "counted by valgrind, since perf may not count here",
            Self::None => "not counted: neither perf nor valgrind can be run here",
        })
    }
}
