//! Two processes, one frame, no copy.
//!
//! ```sh
//! cargo run -p tensor-core --example share             # both ends, the second in a child process
//! cargo run -p tensor-core --example share send /tmp/frames
//! cargo run -p tensor-core --example share receive /tmp/frames
//! ```
//!
//! The sender fills an NV12 frame, sends it, and goes on to paint into it. The receiver maps what it got
//! and sees each new value, because both have the same memory. Either may stop first: the memory lives
//! as long as one of them has it.

#![allow(clippy::print_stdout, reason = "a program for a terminal")]

use std::{
    env,
    error::Error,
    fs,
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::Command,
};

use tensor_core::{
    CpuAccess, ImageDesc, PixelFormat, TensorDyn,
    memory::AllocPolicy,
    socket::{Receiver, send_tensor},
};

const FRAMES: u8 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["send", path] => send(Path::new(path)),
        ["receive", path] => receive(&UnixStream::connect(path)?),
        [] => both(),
        _ => Err("usage: share [send PATH | receive PATH]".into()),
    }
}

fn both() -> Result<(), Box<dyn Error>> {
    let path = env::temp_dir().join(format!("share.{}", std::process::id()));
    let listener = UnixListener::bind(&path)?;
    let mut receiver = Command::new(env::current_exe()?).arg("receive").arg(&path).spawn()?;
    let sent = paint(&listener.accept()?.0);
    fs::remove_file(&path)?;
    sent?;
    if receiver.wait()?.success() { Ok(()) } else { Err("the receiver failed".into()) }
}

fn send(path: &Path) -> Result<(), Box<dyn Error>> {
    let listener = UnixListener::bind(path)?;
    let painted = listener.accept().map_err(Into::into).and_then(|(socket, _)| paint(&socket));
    fs::remove_file(path)?;
    painted
}

/// Sends one frame, then paints it again and again, each time the other side says it has looked.
fn paint(mut socket: &UnixStream) -> Result<(), Box<dyn Error>> {
    // A dma-buf if the machine gives one, else shared memory: both can be sent, a heap cannot.
    let desc = ImageDesc::new(PixelFormat::Nv12, 640, 480).with_policy(AllocPolicy::with_fd());
    let frame = TensorDyn::image_desc(&desc)?;
    send_tensor(socket, &frame)?;
    println!("sender {}: a frame in memory of kind {}", std::process::id(), frame.memory());
    for value in 0..FRAMES {
        let mut map = frame.map(CpuAccess::ReadWrite)?;
        for plane in 0..2 {
            map.plane_mut(plane).ok_or("NV12 has two planes")?.fill(value);
        }
        drop(map);
        socket.write_all(&[value])?;
        socket.read_exact(&mut [0])?;
    }
    Ok(())
}

fn receive(mut socket: &UnixStream) -> Result<(), Box<dyn Error>> {
    let frame = Receiver::new(socket).receive_tensor()?.ok_or("the sender sent nothing")?;
    let mut painted = [0];
    while socket.read(&mut painted)? == 1 {
        let map = frame.map_read()?;
        let all =
            map.planes().all(|plane| plane.rows().all(|row| row.iter().all(|b| *b == painted[0])));
        drop(map);
        println!("receiver {}: painted with {}: {all}", std::process::id(), painted[0]);
        if !all {
            return Err("the receiver does not see what the sender painted".into());
        }
        socket.write_all(&painted)?;
    }
    Ok(())
}
