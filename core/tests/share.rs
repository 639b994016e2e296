//! Tensors between two processes. The second one is this program again, told its role by the
//! environment.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "what goes wrong here fails a test, and a child is told what to do"
)]

use std::{
    env,
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    process::{Child, Command},
    time::Duration,
};

use tensor_core::{
    CpuAccess, ImageLayout, Memory, PixelFormat, PlanePlacement, Region, TensorDyn,
    memory::{AllocPolicy, Step},
    socket::{Receiver, send_tensor},
};

const ROLE: &str = "TENSOR_SHARE_ROLE";
const CASE: &str = "TENSOR_SHARE_CASE";
const SOCKET: &str = "TENSOR_SHARE_SOCKET";

/// What is shared, and in which memory.
const CASES: [(&str, Step); 6] = [
    ("rgba", Step::Memfd),
    ("nv12 in two memories", Step::Memfd),
    ("view", Step::Memfd),
    ("rgba", Step::DmaHeap),
    ("nv12 in two memories", Step::DmaHeap),
    ("view", Step::DmaHeap),
];

/// The tensor of a case, or why this machine has none.
fn tensor((what, step): (&str, Step)) -> Result<TensorDyn, String> {
    let policy = AllocPolicy::from_steps([step]);
    let allocate = |len| {
        let allocation = policy.allocate(len, CpuAccess::ReadWrite);
        allocation.map(|allocation| allocation.memory).map_err(|error| error.to_string())
    };
    let image = |format, places: &[PlanePlacement], memories: Vec<Memory>| {
        let layout = ImageLayout::from_planes(format, 64, 36, places).unwrap();
        TensorDyn::from_image(layout, memories, CpuAccess::ReadWrite).unwrap()
    };
    let place = |memory, offset, stride| PlanePlacement { memory, offset, stride };
    if what.starts_with("nv12") {
        let places = [place(0, 128, 128), place(1, 0, 192)];
        let memories = vec![allocate(8192)?, allocate(4096)?];
        return Ok(image(PixelFormat::Nv12, &places, memories));
    }
    let whole = image(PixelFormat::Rgba, &[place(0, 0, 320)], vec![allocate(320 * 36)?]);
    if what == "rgba" { Ok(whole) } else { Ok(whole.view(Region::new(8, 4, 16, 16)).unwrap()) }
}

fn flat(tensor: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).unwrap();
    flat
}

fn paint(tensor: &TensorDyn, value: u8) {
    tensor.copy_from_flat(&vec![value; tensor.flat_len()]).unwrap();
}

/// Runs `body` for each case with the other end of a socket in a process of its own.
fn with_peer(role: &str, body: impl Fn((&str, Step), UnixStream, Child)) {
    for (number, case) in CASES.into_iter().enumerate() {
        if let Err(why) = tensor(case) {
            let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "dma_buf"), "required: {why}");
            println!("skipped: {case:?}: {why}");
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "the_other_process", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(CASE, number.to_string())
            .env(SOCKET, &path)
            .spawn()
            .unwrap();
        let (socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        body(case, socket, child);
    }
}

#[test]
#[ignore = "the other process of the tests here"]
fn the_other_process() {
    let Ok(role) = env::var(ROLE) else { return };
    let case = CASES[env::var(CASE).unwrap().parse::<usize>().unwrap()];
    let mut socket = UnixStream::connect(env::var(SOCKET).unwrap()).unwrap();
    match role.as_str() {
        "producer" => {
            let tensor = tensor(case).unwrap();
            paint(&tensor, 1);
            send_tensor(&socket, &tensor).unwrap();
            socket.read_exact(&mut [0]).unwrap();
            paint(&tensor, 2);
            socket.write_all(&[0]).unwrap();
            socket.read_exact(&mut [0]).unwrap();
        }
        "consumer" => {
            let tensor = Receiver::new(&socket).receive_tensor().unwrap().unwrap();
            let mut expected = [0];
            while socket.read(&mut expected).unwrap() == 1 {
                assert_eq!(flat(&tensor), vec![expected[0]; tensor.flat_len()]);
                socket.write_all(&expected).unwrap();
            }
        }
        other => panic!("{other}"),
    }
}

// S-MODE-16, S-OWN-02, S-MODE-03: the producer dies and the bytes are still there.
#[test]
fn what_is_written_after_the_send_is_seen_and_outlives_its_writer() {
    with_peer("producer", |case, mut socket, mut child| {
        let same = Receiver::new(&socket).receive_tensor().unwrap().unwrap();
        let like = tensor(case).unwrap();
        assert_eq!((same.layout(), same.is_view()), (like.layout(), like.is_view()), "{case:?}");
        assert_eq!(flat(&same), vec![1; same.flat_len()]);
        socket.write_all(&[0]).unwrap();
        socket.read_exact(&mut [0]).unwrap();
        assert_eq!(flat(&same), vec![2; same.flat_len()], "{case:?}");
        socket.write_all(&[0]).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(flat(&same), vec![2; same.flat_len()], "{case:?}");
        paint(&same, 3);
        assert_eq!(flat(&same), vec![3; same.flat_len()], "{case:?}");
    });
}

// S-MODE-16: the consumer is killed and the producer does not notice.
#[test]
fn a_consumer_that_is_killed_leaves_the_producer_alone() {
    with_peer("consumer", |case, mut socket, mut child| {
        let tensor = tensor(case).unwrap();
        send_tensor(&socket, &tensor).unwrap();
        for value in 0..3 {
            paint(&tensor, value);
            socket.write_all(&[value]).unwrap();
            let mut seen = [9];
            socket.read_exact(&mut seen).unwrap();
            assert_eq!(seen, [value], "{case:?}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        paint(&tensor, 4);
        assert_eq!(flat(&tensor), vec![4; tensor.flat_len()]);
    });
}
