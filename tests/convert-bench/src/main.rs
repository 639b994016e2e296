//! A camera's frame made a model's input, by tensor-core and by its peers.
//!
//! Prints, for each conversion on one and on two threads, the median milliseconds of each side, and
//! theirs as multiples of ours: those that passed and those that the processors worked, which a busy
//! machine changes less. All are asked in turn, so that none has the quieter machine. Nothing is
//! asserted.

mod cell;
mod edgefirst;
mod gstreamer;
mod opencv;
mod ours;

use std::{env, time::Instant};

use cell::{Cell, Work};
use opencv::OpenCv;
use tensor_core::convert::Kernel;

const ROUNDS: usize = 21;
const SIDES: [&str; 5] = ["ours", "videoconvertscale", "OpenCV", "edgefirst-image", "reference"];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [python, script, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: tensor-convert-bench PYTHON OPENCV.PY [PART-OF-A-NAME]");
        return;
    };
    gst::init().expect("GStreamer");
    let mut opencv = OpenCv::start(python, script);
    let copied = memcpy();
    println!("memcpy: {copied:.1} GB/s, read and written counted; {}", gst::version_string());
    println!("milliseconds a frame, and in parts of ours; GB/s: all of the frame and of the input");
    print!("{:<22}", "conversion, threads");
    SIDES.iter().for_each(|side| print!(" {side:>18}"));
    println!(" {:>6} {:>9}", "GB/s", "of memcpy");
    for cell in Cell::ALL.iter().filter(|cell| rest.iter().all(|part| cell.name.contains(part))) {
        for threads in [1, 2] {
            for (kind, medians) in
                ["passed", "worked"].iter().zip(medians(cell, threads, &mut opencv))
            {
                let ours = medians[0].unwrap_or(f64::NAN);
                print!("{:<14} {threads} {kind}", cell.name);
                for median in medians {
                    match median {
                        Some(median) => print!(" {:>9.3} {:>7.2}x", median / 1e6, median / ours),
                        None => print!(" {:>18}", "-"),
                    }
                }
                let rate = cell.bytes() as f64 / ours;
                println!(" {rate:>6.1} {:>9.2}", rate / copied);
            }
        }
    }
    println!("videoconvertscale and OpenCV end at bytes or go on in NumPy; see docs/convert.md");
}

/// The median nanoseconds of a conversion by each side, where it can do it: passed and worked.
fn medians(cell: &Cell, threads: usize, opencv: &mut OpenCv) -> [[Option<f64>; SIDES.len()]; 2] {
    let mut works: [Option<Work>; SIDES.len()] = [
        Some(ours::work(cell, threads, Kernel::Fast)),
        gstreamer::work(cell, threads),
        None,
        edgefirst::work(cell, threads),
        Some(ours::work(cell, threads, Kernel::Reference)),
    ];
    let mut rounds: [[Vec<f64>; SIDES.len()]; 2] = Default::default();
    for round in 0..=ROUNDS {
        for (side, work) in works.iter_mut().enumerate() {
            // The reference is there to be right.
            let count = if SIDES[side] == "reference" { 1 } else { cell.times };
            let taken = match work {
                Some(work) => {
                    let (begin, worked) = (Instant::now(), processor_time());
                    work(count);
                    [begin.elapsed().as_secs_f64() * 1e9, processor_time() - worked]
                }
                None if SIDES[side] == "OpenCV" => opencv.ask(cell.name, threads, count),
                None => continue,
            };
            // The first fills caches and pools.
            if round > 0 {
                for (rounds, taken) in rounds.iter_mut().zip(taken) {
                    rounds[side].push(taken / count as f64);
                }
            }
        }
    }
    rounds.map(|sides| {
        sides.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied()
        })
    })
}

/// Nanoseconds that the processors have worked for this process.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it is called with a clock that there is and a place for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Bytes read and written in a nanosecond by copying 64 MiB.
fn memcpy() -> f64 {
    let (from, mut to) = (vec![1_u8; 64 << 20], vec![0_u8; 64 << 20]);
    let rate = |_| {
        let begin = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        (2 * from.len()) as f64 / (begin.elapsed().as_secs_f64() * 1e9)
    };
    let mut rates: Vec<f64> = (0..9).map(rate).collect();
    rates.sort_by(f64::total_cmp);
    rates[4]
}
