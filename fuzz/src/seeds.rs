//! Small valid inputs, written by the library or by hand; no recording is among them.

use etendue_config::presets::{CAMERAS, PROFILES, Presets, SCENES, SENSORS};
use etendue_io::image::{ExrChannel, ExrData, Pixels};
use etendue_io::output::OutputSet;
use etendue_io::points::PointFormat;
use etendue_io::table::{ColumnData, Encoding, PointColumn, PointTable};

/// Four points with the usual fields.
fn table() -> PointTable {
    let f32s = |values: [f32; 4]| ColumnData::F32(values.to_vec());
    let f64s = |values: [f64; 4]| ColumnData::F64(values.to_vec());
    let u16s = |values: [u16; 4]| ColumnData::U16(values.to_vec());
    let columns = vec![
        PointColumn::new("x", f32s([1.0, 2.5, -3.0, 0.0])),
        PointColumn::new("y", f32s([0.5, 2.0, 4.0, -7.25])),
        PointColumn::new("z", f32s([0.0, 0.125, 1.0, 2.0])),
        PointColumn::new("intensity", f32s([7.0, 0.0, 80.0, 255.0])),
        PointColumn::new("ring", u16s([0, 1, 0, 1])),
        PointColumn::new("time", f64s([0.0, 0.001, 0.1, 0.101])),
        PointColumn::new("return_number", u16s([1, 1, 1, 2])),
        PointColumn::new("returns", u16s([1, 1, 1, 2])),
        PointColumn::new("sweep", ColumnData::U32(vec![0, 0, 1, 1])),
    ];
    PointTable {
        points: 4,
        height: 1,
        columns,
    }
}

/// The points in a format, by its ending.
fn written(ending: &str, encoding: Encoding) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("etendue-seed-{}.{ending}", std::process::id()));
    let format = PointFormat::of_ending(&path).expect("a known ending");
    let mut outputs = OutputSet::new();
    format
        .write(&mut outputs, &path, &table(), encoding)
        .expect("the points are representable");
    outputs.commit().expect("the folder is writable");
    let bytes = std::fs::read(&path).expect("the file was written");
    std::fs::remove_file(&path).expect("the file was written");
    bytes
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn pcd() -> Vec<Vec<u8>> {
    let head = "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n\
                COUNT 1 1 1\nWIDTH 1\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA binary_compressed\n";
    let packed = [
        &13_u32.to_le_bytes()[..],
        &12_u32.to_le_bytes(),
        &[11],
        &[0; 12],
    ]
    .concat();
    vec![
        written("pcd", Encoding::Binary),
        written("pcd", Encoding::Ascii),
        [head.as_bytes(), &packed].concat(),
    ]
}

pub fn ply() -> Vec<Vec<u8>> {
    let big = "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
               property float z\nend_header\n";
    vec![
        written("ply", Encoding::Binary),
        written("ply", Encoding::Ascii),
        [big.as_bytes(), &[0x3f, 0x80, 0, 0].repeat(3)].concat(),
    ]
}

pub fn npz() -> Vec<Vec<u8>> {
    vec![written("npz", Encoding::Binary)]
}

pub fn las() -> Vec<Vec<u8>> {
    vec![
        written("las", Encoding::Binary),
        written("laz", Encoding::Binary),
    ]
}

pub fn e57() -> Vec<Vec<u8>> {
    vec![written("e57", Encoding::Binary)]
}

pub fn kitti() -> Vec<Vec<u8>> {
    vec![written("bin", Encoding::Binary)]
}

pub fn mcap() -> Vec<Vec<u8>> {
    vec![written("mcap", Encoding::Binary)]
}

#[cfg(feature = "full")]
pub fn parquet() -> Vec<Vec<u8>> {
    vec![written("parquet", Encoding::Binary)]
}

#[cfg(not(feature = "full"))]
pub fn parquet() -> Vec<Vec<u8>> {
    texts(&["PAR1"])
}

pub fn vtk() -> Vec<Vec<u8>> {
    texts(&[
        "# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n1 2 3\n4 5 6\n",
    ])
}

pub fn csv() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "# a comment\n1 2 3\n4 5 6\n",
        "x_m;y\n",
        "x,y,z,range\n1,2,2,3\n",
    ]);
    seeds.push(written("csv", Encoding::Ascii));
    seeds
}

/// A UDP packet of a lidar in an IPv4 packet, in a frame of Ethernet, in a capture.
fn capture(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = |more: usize| {
        u16::try_from(payload.len() + more)
            .expect("a packet")
            .to_be_bytes()
    };
    let ethernet = [&[0; 12][..], &[8, 0]].concat();
    let ip = [
        &[0x45, 0][..],
        &length(28),
        &[0, 1, 0, 0, 64, 17, 0, 0],
        &[10, 0, 0, 1, 10, 0, 0, 2],
    ]
    .concat();
    let udp = [
        &port.to_be_bytes()[..],
        &port.to_be_bytes(),
        &length(8),
        &[0, 0],
    ]
    .concat();
    let frame = [&ethernet[..], &ip, &udp, payload].concat();
    let size = u32::try_from(frame.len()).expect("a packet").to_le_bytes();
    let head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1]
        .map(u32::to_le_bytes)
        .concat();
    let packet = [&[0; 8][..], &size, &size, &frame].concat();
    [&head[..], &packet, &packet].concat()
}

pub fn captures() -> Vec<Vec<u8>> {
    // A VLP-16: twelve blocks, time, return mode, model
    let block = [&[0xff, 0xee, 0x10, 0x27][..], &[0x88, 0x13, 7].repeat(32)].concat();
    let velodyne = [block.repeat(12), vec![0, 0, 0, 0, 0x37, 0x22]].concat();
    // An HDL-64E: banks of 32 lasers
    let lower = [&[0xff, 0xdd, 0x10, 0x27][..], &[0x88, 0x13, 7].repeat(32)].concat();
    let banks = [
        [block.clone(), lower].concat().repeat(6),
        vec![0, 0, 0, 0, 0x37, 0x21],
    ]
    .concat();
    // Hesai: the marks of Pandar40P and of the lidars with headers, with an empty body
    let pandar = [&[0xff, 0xee][..], &[0x10, 0x27], &[0x10, 0, 7].repeat(40)]
        .concat()
        .repeat(10);
    let pandar = [pandar, vec![0; 22]].concat();
    let with_header = |lasers: u8, blocks: u8| {
        let block = [&[0x10, 0x27][..], &[0x10, 0, 7, 1].repeat(lasers.into())].concat();
        let header = vec![0xee, 0xff, 6, 1, 0, 0, lasers, blocks, 1, 4, 1, 0];
        [header, block.repeat(blocks.into()), vec![0; 28]].concat()
    };
    vec![
        capture(2368, &velodyne),
        capture(2368, &banks),
        capture(2368, &pandar),
        capture(2368, &with_header(32, 8)),
        capture(2368, &with_header(16, 8)),
        capture(2368, &with_header(64, 4)),
    ]
}

pub fn obj() -> Vec<Vec<u8>> {
    texts(&[
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nusemtl wall\n\
             f 1/1 2/2 3/3\nf -4 -2 -1\nf 1 2 3 4\n",
    ])
}

pub fn ply_mesh() -> Vec<Vec<u8>> {
    let head = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n\
                property list uchar int vertex_indices\nproperty int object_id\nend_header\n";
    let text = format!(
        "ply\nformat ascii 1.0\n{head}0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 7\n4 0 1 2 3 8\n"
    );
    let mut binary = format!("ply\nformat binary_little_endian 1.0\n{head}").into_bytes();
    binary.extend(
        [
            0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0,
        ]
        .map(f32::to_le_bytes)
        .concat(),
    );
    for (corners, object) in [(&[0_u32, 1, 2][..], 7_u32), (&[0, 1, 2, 3], 8)] {
        binary.push(corners.len() as u8);
        binary.extend(
            corners
                .iter()
                .chain([&object])
                .flat_map(|number| number.to_le_bytes()),
        );
    }
    vec![text.into_bytes(), binary]
}

pub fn stl() -> Vec<Vec<u8>> {
    let text = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
                endsolid a\n";
    let mut binary = vec![0; 80];
    binary.extend(1_u32.to_le_bytes());
    binary.extend(
        [
            0.0_f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0,
        ]
        .map(f32::to_le_bytes)
        .concat(),
    );
    binary.extend([0, 0]);
    vec![text.into(), binary]
}

pub fn gltf() -> Vec<Vec<u8>> {
    // Three vertices, three indices and an image in one buffer
    let vertices = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
        .map(f32::to_le_bytes)
        .concat();
    let indices = [0_u16, 1, 2, 0].map(u16::to_le_bytes).concat();
    let image = png().remove(0);
    let buffer = [vertices, indices, image.clone()].concat();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0,"children":[1]}},
        {{"translation":[1,2,3]}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":2}},"indices":1,
        "material":0}}]}}],"materials":[{{"name":"a","pbrMetallicRoughness":{{"baseColorTexture":{{"index":0}}}}}}],
        "textures":[{{"source":0}}],"images":[{{"bufferView":2,"mimeType":"image/png"}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}},
        {{"bufferView":0,"componentType":5126,"count":3,"type":"VEC2"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":8}},
        {{"buffer":0,"byteOffset":44,"byteLength":{}}}],"buffers":[{{"byteLength":{}}}]}}"#,
        image.len(),
        buffer.len()
    );
    let chunk = |kind: &[u8; 4], content: &[u8], padding: u8| {
        let length = content.len().next_multiple_of(4);
        let mut bytes = u32::try_from(length)
            .expect("a small chunk")
            .to_le_bytes()
            .to_vec();
        bytes.extend(kind);
        bytes.extend(content);
        bytes.resize(8 + length, padding);
        bytes
    };
    let body = [
        chunk(b"JSON", json.as_bytes(), b' '),
        chunk(b"BIN\0", &buffer, 0),
    ]
    .concat();
    let length = u32::try_from(12 + body.len())
        .expect("a small file")
        .to_le_bytes();
    let glb = [b"glTF", &2_u32.to_le_bytes()[..], &length, &body].concat();
    vec![glb, json.into_bytes()]
}

pub fn png() -> Vec<Vec<u8>> {
    let bytes = [0, 50, 100, 150, 200, 250, 7, 8, 9, 10, 11, 12];
    let wide = [0_u16, 500, 60_000, 7];
    vec![
        etendue_io::image::png(2, 2, Pixels::Colour8(&bytes)).expect("the size matches"),
        etendue_io::image::png(2, 2, Pixels::Grey16(&wide)).expect("the size matches"),
    ]
}

/// A grey square of 8 x 8 pixels (ITU-T T.81, baseline).
pub fn jpeg() -> Vec<Vec<u8>> {
    let mut file = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
    file.extend([1; 64]);
    file.extend([0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    // Huffman tables of one code each: category 0 and end of block
    for class in [0x00, 0x10] {
        file.extend([0xff, 0xc4, 0, 20, class, 1]);
        file.extend([0; 15]);
        file.push(0);
    }
    file.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9]);
    vec![file]
}

pub fn hdr() -> Vec<Vec<u8>> {
    let mut packed = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n".to_vec();
    packed.extend([
        2, 2, 0, 8, 136, 128, 8, 1, 2, 3, 4, 5, 6, 7, 8, 136, 0, 136, 129,
    ]);
    vec![
        packed,
        b"#?RADIANCE\n\n-Y 1 +X 1\n\x80\x40\x20\x80".to_vec(),
    ]
}

pub fn exr() -> Vec<Vec<u8>> {
    let data = ExrData::Float(vec![1.0, 2.0, 3.0, 4.0].into());
    let file = etendue_io::image::exr(2, 2, &[ExrChannel { name: "Y", data }]);
    vec![file.unwrap_or_else(|_| vec![0x76, 0x2f, 0x31, 0x01])]
}

/// A length and bytes.
fn block(bytes: &[u8]) -> Vec<u8> {
    [
        &u32::try_from(bytes.len())
            .expect("a small block")
            .to_le_bytes(),
        bytes,
    ]
    .concat()
}

/// A record of a ROS 1 bag.
fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let field = |(name, value): &(&str, &[u8])| block(&[name.as_bytes(), b"=", value].concat());
    let header: Vec<u8> = fields.iter().flat_map(field).collect();
    [block(&header), block(data)].concat()
}

pub fn ros1() -> Vec<Vec<u8>> {
    let mut scan = [7_u32, 12, 500].map(u32::to_le_bytes).concat();
    scan.extend(block(b"laser"));
    scan.extend(
        [-1.0_f32, 1.0, 0.5, 0.0, 0.1, 0.15, 12.0]
            .map(f32::to_le_bytes)
            .concat(),
    );
    for _ in 0..2 {
        scan.extend(3_u32.to_le_bytes());
        scan.extend([0.5_f32, 1.5, 2.5].map(f32::to_le_bytes).concat());
    }
    let kind = block(b"type=sensor_msgs/LaserScan");
    let connection = record(
        &[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/scan")],
        &kind,
    );
    let message = record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[0; 8])], &scan);
    let inner = [connection, message].concat();
    let chunk = record(&[("op", &[5]), ("compression", b"none")], &inner);
    vec![[b"#ROSBAG V2.0\n".as_slice(), &chunk].concat()]
}

/// A database of one page: the schema of an empty table `topics` on page 1.
pub fn sqlite() -> Vec<Vec<u8>> {
    let mut page = vec![0; 1024];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    page[16..18].copy_from_slice(&512_u16.to_be_bytes());
    page[100] = 13;
    page[103..105].copy_from_slice(&1_u16.to_be_bytes());
    page[108..110].copy_from_slice(&400_u16.to_be_bytes());
    // A row: type, name, table, root page 2, definition
    let row = b"\x19\x01\x06\x17\x19\x19\x01\x0dtabletopicstopics\x02";
    page[400..400 + row.len()].copy_from_slice(row);
    page[512] = 13;
    vec![page]
}

pub fn scan_logs() -> Vec<Vec<u8>> {
    texts(&[
        "FLASER 2 1.0 2.0 0 0 0 0 0 0 1.5 host 1.5\nFLASER 2 1.0 2.0 0 0 0 0 0 0 2.5 host 2.5\n",
        "ROBOTLASER1 0 -0.5 1 0.5 30 0.01 0 3 1 2 3 0 1 2 3 4 5 6 0 0 0 0 0 13.5 host 2\n",
        "1.5,47,0.1\n2.0,47,0.2\n1.6,47,0.1\n2.1,47,0.2\n",
        "sweep,beam,time_s,azimuth_rad,reading,range_m\n0,0,0,-2.08,range,0.53\n0,1,0.1,-2.07,no-return,\n",
        "   theta: 0.5 Dist: 1000.0 Q: 47\nS  theta: 1.5 Dist: 1200.0 Q: 47\n",
    ])
}

/// A rawlog with a scan of two beams.
pub fn rawlogs() -> Vec<Vec<u8>> {
    let parts: [&[u8]; 11] = [
        b"\x97CObservation2DRangeScan\x02",
        &[0, 0, 0x80, 0x3f, 1, 0, 0, 0xf0, 0x41],
        b"\x87CPose3D\x02",
        &[0; 56],
        b"\x88\x87CMatrix\x00",
        &[0; 8],
        b"\x88\x02\0\0\0",
        &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40],
        &[1, 1],
        &[0; 4],
        b"\x88",
    ];
    vec![parts.concat()]
}

pub fn ouster() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"prod_line":"OS-1-16","lidar_mode":"1024x10","udp_profile_lidar":"LEGACY","columns_per_packet":16,
        "beam_altitude_angles":[1.5,-1.5],"beam_azimuth_angles":[0.1,0.2],"lidar_origin_to_beam_origin_mm":12.1}"#,
    ])
}

pub fn velodyne() -> Vec<Vec<u8>> {
    texts(&[
        "lasers:\n- {laser_id: 0, vert_correction: 0.1, rot_correction: 0.2, dist_correction: 1.2}\n",
        "<boost_serialization><points_><item><px><id_>0</id_><rotCorrection_>1</rotCorrection_>\
         <vertCorrection_>2</vertCorrection_><distCorrection_>120</distCorrection_></px></item></points_>\
         </boost_serialization>",
    ])
}

pub fn tum() -> Vec<Vec<u8>> {
    texts(&["# time x y z qx qy qz qw\n0.0 0 0 1 0 0 0 1\n1.0 2 0 1 0 0 0 1\n"])
}

pub fn kitti_poses() -> Vec<Vec<u8>> {
    texts(&["1 0 0 0 0 1 0 0 0 0 1 0\n0 -1 0 3 1 0 0 0 0 0 1 0\n"])
}

pub fn urdf() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../examples/rover.urdf").to_vec()]
}

/// The shortest presets of a kind.
fn presets(presets: Presets) -> Vec<Vec<u8>> {
    let mut texts: Vec<&str> = presets.all().iter().map(|preset| preset.text).collect();
    texts.sort_by_key(|text| text.len());
    texts
        .iter()
        .take(4)
        .map(|text| text.as_bytes().to_vec())
        .collect()
}

pub fn scenes() -> Vec<Vec<u8>> {
    presets(SCENES)
}

pub fn sensors() -> Vec<Vec<u8>> {
    presets(SENSORS)
}

pub fn cameras() -> Vec<Vec<u8>> {
    presets(CAMERAS)
}

pub fn profiles() -> Vec<Vec<u8>> {
    presets(PROFILES)
}

pub fn robots() -> Vec<Vec<u8>> {
    texts(&[
        "version = 1\nname = \"cart\"\nscene = \"arena\"\nduration_s = 1.0\n\
             motion.circle = { radius_m = 0.2, speed_mps = 0.1, position_m = [0.0, -0.2, -0.1] }\n\
             [place]\nlatitude_deg = 48.1\nlongitude_deg = 11.5\nheight_m = 565.0\nstart = 2026-06-01T12:00:00Z\n\
             [[frames]]\nname = \"mast\"\nposition_m = [0.02, 0.0, 0.1]\n\
             [[sensors]]\nname = \"imu\"\nframe = \"mast\"\nrate_hz = 100\nlag_ms = 2\ndevice.imu = { preset = \"stim300\" }\n\
             [[sensors]]\nname = \"lidar\"\ndevice.lidar = { preset = \"hokuyo-urg-04lx\" }\nfilters = [\"to_cloud\"]\n",
    ])
}

pub fn fits() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../examples/fit/fog.toml").to_vec()]
}

pub fn depth_models() -> Vec<Vec<u8>> {
    texts(&[
        "version = 1\nsensor = \"os0\"\n[model.polynomial]\nexponents = [4]\nweights = [-0.001]\n",
    ])
}

pub fn pose_uncertainties() -> Vec<Vec<u8>> {
    texts(&["version = 1\nposition_sd_m = 0.01\nrotation_sd_deg = 0.2\n"])
}
