//! What is converted into what.

/// One conversion that all sides do.
#[derive(Clone, Copy)]
pub struct Cell {
    pub name: &'static str,
    /// Size of the NV12 frame.
    pub from: (usize, usize),
    /// Size of the input.
    pub to: (usize, usize),
    pub output: Output,
    pub area: bool,
    /// Conversions a round.
    pub times: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Pixel values, channels last.
    U8,
    /// Pixel values less 128, channels last.
    I8,
    /// Normalized as for ImageNet, channels first.
    F32,
}

const HD: Cell = Cell {
    name: "letterbox-u8",
    from: (1920, 1080),
    to: (640, 640),
    output: Output::U8,
    area: false,
    times: 8,
};

const UHD: Cell = Cell { name: "uhd-bilinear", from: (3840, 2160), to: (224, 224), times: 4, ..HD };

impl Cell {
    pub const ALL: [Self; 5] = [
        HD,
        Self { name: "letterbox-i8", output: Output::I8, ..HD },
        Self { name: "letterbox-f32", output: Output::F32, ..HD },
        UHD,
        Self { name: "uhd-area", area: true, ..UHD },
    ];

    /// Whether the image keeps its aspect in the input.
    pub fn is_letterbox(&self) -> bool {
        self.to.0 == 640
    }

    /// Bytes of the frame and of the input.
    pub fn bytes(&self) -> usize {
        let sample = if self.output == Output::F32 { 4 } else { 1 };
        self.from.0 * self.from.1 * 3 / 2 + self.to.0 * self.to.1 * 3 * sample
    }

    /// Noise, as a frame of this cell.
    pub fn frame(&self) -> Vec<u8> {
        let mut state = 7_u64;
        let byte = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..self.from.0 * self.from.1 * 3 / 2).map(byte).collect()
    }
}

/// What a side does so many times.
pub type Work = Box<dyn FnMut(usize)>;
