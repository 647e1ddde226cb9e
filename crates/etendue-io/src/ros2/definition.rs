//! Definitions of the message types that recordings contain.

/// A message type: its name, its fields and the message types of its fields.
pub(super) struct Definition {
    pub name: &'static str,
    fields: &'static str,
    parts: &'static [&'static Definition],
}

impl Definition {
    /// Text of an MCAP schema with the encoding `ros2msg`: the fields, then the definitions of all
    /// nested types.
    pub fn schema(&self) -> String {
        let mut text = self.fields.to_owned();
        for part in self.parts {
            text += &"=".repeat(80);
            text += "\nMSG: ";
            text += &part.name.replace("/msg/", "/");
            text += "\n";
            text += part.fields;
        }
        text
    }
}

const TIME: Definition = Definition {
    name: "builtin_interfaces/msg/Time",
    fields: "int32 sec\nuint32 nanosec\n",
    parts: &[],
};

const HEADER: Definition = Definition {
    name: "std_msgs/msg/Header",
    fields: "builtin_interfaces/Time stamp\nstring frame_id\n",
    parts: &[],
};

const POINT_FIELD: Definition = Definition {
    name: "sensor_msgs/msg/PointField",
    fields: "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\n\
             uint8 UINT32=6\nuint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\n\
             uint8 datatype\nuint32 count\n",
    parts: &[],
};

const VECTOR3: Definition = Definition {
    name: "geometry_msgs/msg/Vector3",
    fields: "float64 x\nfloat64 y\nfloat64 z\n",
    parts: &[],
};

const QUATERNION: Definition = Definition {
    name: "geometry_msgs/msg/Quaternion",
    fields: "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    parts: &[],
};

const TRANSFORM: Definition = Definition {
    name: "geometry_msgs/msg/Transform",
    fields: "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    parts: &[],
};

const TRANSFORM_STAMPED: Definition = Definition {
    name: "geometry_msgs/msg/TransformStamped",
    fields: "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
    parts: &[],
};

/// `sensor_msgs/msg/PointCloud2`.
pub(super) const POINT_CLOUD: Definition = Definition {
    name: "sensor_msgs/msg/PointCloud2",
    fields: "std_msgs/Header header\nuint32 height\nuint32 width\n\
             sensor_msgs/PointField[] fields\nbool is_bigendian\nuint32 point_step\n\
             uint32 row_step\nuint8[] data\nbool is_dense\n",
    parts: &[&HEADER, &TIME, &POINT_FIELD],
};

/// `sensor_msgs/msg/LaserScan`.
pub(super) const LASER_SCAN: Definition = Definition {
    name: "sensor_msgs/msg/LaserScan",
    fields: "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\n\
             float32 angle_increment\nfloat32 time_increment\nfloat32 scan_time\n\
             float32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities\n",
    parts: &[&HEADER, &TIME],
};

/// `tf2_msgs/msg/TFMessage`.
pub(super) const TRANSFORMS: Definition = Definition {
    name: "tf2_msgs/msg/TFMessage",
    fields: "geometry_msgs/TransformStamped[] transforms\n",
    parts: &[
        &TRANSFORM_STAMPED,
        &HEADER,
        &TIME,
        &TRANSFORM,
        &VECTOR3,
        &QUATERNION,
    ],
};

/// `rosgraph_msgs/msg/Clock`.
pub(super) const CLOCK: Definition = Definition {
    name: "rosgraph_msgs/msg/Clock",
    fields: "builtin_interfaces/Time clock\n",
    parts: &[&TIME],
};

/// `sensor_msgs/msg/Image`.
pub(super) const IMAGE: Definition = Definition {
    name: "sensor_msgs/msg/Image",
    fields: "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n\
             uint8 is_bigendian\nuint32 step\nuint8[] data\n",
    parts: &[&HEADER, &TIME],
};

const REGION: Definition = Definition {
    name: "sensor_msgs/msg/RegionOfInterest",
    fields: "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    parts: &[],
};

/// `sensor_msgs/msg/CameraInfo`.
pub(super) const CAMERA_INFO: Definition = Definition {
    name: "sensor_msgs/msg/CameraInfo",
    fields: "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\n\
             float64[] d\nfloat64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\n\
             uint32 binning_y\nsensor_msgs/RegionOfInterest roi\n",
    parts: &[&HEADER, &TIME, &REGION],
};

const POINT: Definition = Definition {
    name: "geometry_msgs/msg/Point",
    fields: "float64 x\nfloat64 y\nfloat64 z\n",
    parts: &[],
};

const POSE: Definition = Definition {
    name: "geometry_msgs/msg/Pose",
    fields: "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n",
    parts: &[],
};

const POSE_WITH_COVARIANCE: Definition = Definition {
    name: "geometry_msgs/msg/PoseWithCovariance",
    fields: "geometry_msgs/Pose pose\nfloat64[36] covariance\n",
    parts: &[],
};

const TWIST: Definition = Definition {
    name: "geometry_msgs/msg/Twist",
    fields: "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    parts: &[],
};

const TWIST_WITH_COVARIANCE: Definition = Definition {
    name: "geometry_msgs/msg/TwistWithCovariance",
    fields: "geometry_msgs/Twist twist\nfloat64[36] covariance\n",
    parts: &[],
};

const NAV_SAT_STATUS: Definition = Definition {
    name: "sensor_msgs/msg/NavSatStatus",
    fields: "int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\n\
             int8 STATUS_GBAS_FIX=2\nint8 status\nuint16 SERVICE_GPS=1\nuint16 service\n",
    parts: &[],
};

/// `sensor_msgs/msg/Imu`.
pub(super) const IMU: Definition = Definition {
    name: "sensor_msgs/msg/Imu",
    fields: "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\n\
             float64[9] orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\n\
             float64[9] angular_velocity_covariance\n\
             geometry_msgs/Vector3 linear_acceleration\n\
             float64[9] linear_acceleration_covariance\n",
    parts: &[&HEADER, &TIME, &QUATERNION, &VECTOR3],
};

/// `sensor_msgs/msg/NavSatFix`.
pub(super) const NAV_SAT_FIX: Definition = Definition {
    name: "sensor_msgs/msg/NavSatFix",
    fields: "std_msgs/Header header\nsensor_msgs/NavSatStatus status\nfloat64 latitude\n\
             float64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\n\
             uint8 COVARIANCE_TYPE_UNKNOWN=0\nuint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2\n\
             uint8 position_covariance_type\n",
    parts: &[&HEADER, &TIME, &NAV_SAT_STATUS],
};

/// `sensor_msgs/msg/MagneticField`.
pub(super) const MAGNETIC_FIELD: Definition = Definition {
    name: "sensor_msgs/msg/MagneticField",
    fields: "std_msgs/Header header\ngeometry_msgs/Vector3 magnetic_field\n\
             float64[9] magnetic_field_covariance\n",
    parts: &[&HEADER, &TIME, &VECTOR3],
};

/// `sensor_msgs/msg/FluidPressure`.
pub(super) const FLUID_PRESSURE: Definition = Definition {
    name: "sensor_msgs/msg/FluidPressure",
    fields: "std_msgs/Header header\nfloat64 fluid_pressure\nfloat64 variance\n",
    parts: &[&HEADER, &TIME],
};

/// `geometry_msgs/msg/PointStamped`.
pub(super) const POINT_STAMPED: Definition = Definition {
    name: "geometry_msgs/msg/PointStamped",
    fields: "std_msgs/Header header\ngeometry_msgs/Point point\n",
    parts: &[&HEADER, &TIME, &POINT],
};

/// `sensor_msgs/msg/JointState`.
pub(super) const JOINT_STATE: Definition = Definition {
    name: "sensor_msgs/msg/JointState",
    fields: "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n\
             float64[] effort\n",
    parts: &[&HEADER, &TIME],
};

/// `nav_msgs/msg/Odometry`.
pub(super) const ODOMETRY: Definition = Definition {
    name: "nav_msgs/msg/Odometry",
    fields: "std_msgs/Header header\nstring child_frame_id\n\
             geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n",
    parts: &[
        &HEADER,
        &TIME,
        &POSE_WITH_COVARIANCE,
        &POSE,
        &POINT,
        &QUATERNION,
        &TWIST_WITH_COVARIANCE,
        &TWIST,
        &VECTOR3,
    ],
};

const ACKERMANN_DRIVE: Definition = Definition {
    name: "ackermann_msgs/msg/AckermannDrive",
    fields: "float32 steering_angle\nfloat32 steering_angle_velocity\nfloat32 speed\n\
             float32 acceleration\nfloat32 jerk\n",
    parts: &[],
};

/// `ackermann_msgs/msg/AckermannDriveStamped`.
pub(super) const ACKERMANN: Definition = Definition {
    name: "ackermann_msgs/msg/AckermannDriveStamped",
    fields: "std_msgs/Header header\nackermann_msgs/AckermannDrive drive\n",
    parts: &[&HEADER, &TIME, &ACKERMANN_DRIVE],
};
