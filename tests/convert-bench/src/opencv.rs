//! OpenCV and NumPy, in a process of their own that times itself.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

pub struct OpenCv {
    _child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl OpenCv {
    pub fn start(python: &str, script: &str) -> Self {
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python");
        let questions = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Self { _child: child, questions, answers }
    }

    /// Nanoseconds of so many conversions: passed and worked.
    pub fn ask(&mut self, cell: &str, threads: usize, times: usize) -> [f64; 2] {
        writeln!(self.questions, "{cell} {threads} {times}").expect("it listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it answers");
        let mut numbers = line.split_whitespace().map(|number| number.parse().expect("a number"));
        [(); 2].map(|()| numbers.next().expect("two numbers"))
    }
}
