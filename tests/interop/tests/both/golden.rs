//! The published crate's blobs that are kept as files.

use std::{env, fs, path::Path};

use super::*;

fn bytes_count_up(tensor: &theirs::TensorDyn) {
    let mut map = tensor.map_bytes(theirs::CpuAccess::Write).expect("maps");
    for (at, byte) in map.as_mut_slice().iter_mut().enumerate() {
        *byte = u8::try_from(at).expect("small");
    }
}

fn nv12() -> theirs::TensorDyn {
    let tensor = their_image(theirs::PixelFormat::Nv12, (8, 4));
    bytes_count_up(&tensor);
    tensor.with_colorimetry(theirs::Colorimetry {
        encoding: Some(theirs::ColorEncoding::Bt601),
        range: Some(theirs::ColorRange::Limited),
        ..theirs::Colorimetry::default()
    })
}

fn rgb_per_channel() -> theirs::TensorDyn {
    let tensor = their_image(theirs::PixelFormat::Rgb, (4, 2));
    bytes_count_up(&tensor);
    let quantization = theirs::Quantization::per_channel(vec![0.5, 1.0, 2.0], vec![0, 128, 255], 2);
    tensor.with_quantization(quantization.expect("valid")).expect("fits")
}

fn f32() -> theirs::TensorDyn {
    let memory = Some(theirs::TensorMemory::Mem);
    let tensor = theirs::TensorDyn::new(&[2, 3], theirs::DType::F32, memory, None).expect("memory");
    let mut map = tensor.map_bytes(theirs::CpuAccess::Write).expect("maps");
    for (number, bytes) in (0_u8..).zip(map.as_mut_slice().chunks_exact_mut(4)) {
        bytes.copy_from_slice(&f32::from(number).to_le_bytes());
    }
    drop(map);
    tensor
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever asks for new files says so")]
fn the_files_are_what_they_write() {
    let files: [(&str, theirs::TensorDyn); 3] = [
        ("theirs-nv12.blob", nv12()),
        ("theirs-rgb-per-channel.blob", rgb_per_channel()),
        ("theirs-f32.blob", f32()),
    ];
    for (name, tensor) in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/blob").join(name);
        let mode = theirs::blob::TransportMode::Inline;
        let (blob, _) = theirs::blob::export(&tensor, mode).expect("their export");
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &blob).expect("writes");
        }
        assert_eq!(fs::read(&path).expect("reads"), blob, "{name}");
    }
}
