// Messages of the server.

import type { RobotState } from "./robot_panel";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };
export type Step = string | number;
export type DocumentName = "scene" | "sensor" | "profile";

export type Edit =
  | { set: { document: DocumentName; path: Step[]; value: Json } }
  | { text: { document: DocumentName; text: string } }
  | { pose: number[] | null }
  | { weather: Weather }
  | { seed: number }
  | { sweep: number }
  | { sensor: string | null }
  | { profile: string | null }
  | "leave_trajectory"
  | "leave_robot";

export interface Weather { visibility_m?: number | null; fog_m?: number | null; rain_mm_h?: number | null; snow_mm_h?: number | null; dust_g_m3?: number | null }

export interface Hello {
  protocol: number; client: number; scenes: string[]; sensors: [string, string][]; profiles: string[];
  cameras: { name: string; width: number; height: number }[];
  library: { name: string; description: string; file: Table }[];
  scene_schema: Table; sensor_schema: Table;
}

export interface Look { diffuse: number; mirror: number; transmitted: number; backscatter: number }
export interface FileState { word: string; path: string; is_changed: boolean; toml: Table }
export interface ObjectState { name: string; mesh: number; pose: number[]; material: number; table: number | null; is_moving: boolean }
export interface MaterialState { name: string; look: Look; is_own: boolean; file: Table | null }

export interface ProfileState { word: string; path: string; is_changed: boolean; name_in_scene: string | null; materials: number[]; fingerprint: number }
export interface TrajectoryState { path: string; poses: number; duration: number }

export interface State {
  revision: number; steps: [number, number]; scene: FileState; scene_name: string; sensor: FileState;
  robot: RobotState | null; profile: ProfileState | null; own_profiles: string[]; trajectory: TrajectoryState | null; sweeps: number | null; path: number[][];
  lidar: { name: string; wavelength_nm: number; receiver: string; channels: number; columns: number; azimuths: number[]; elevations: number[]; near: number; far: number; intensity_top: number | null };
  pose: number[]; is_pose_given: boolean; is_moving: boolean; weather: Weather; seed: number; sweep: number;
  objects: ObjectState[]; materials: MaterialState[]; classes: string[]; bounds: [number[], number[]]; warnings: string[];
  recording: { name: string; scans: number; has_beams: boolean; warnings: string[] } | null;
  aim_source: string | null;
  export: { words: string[]; command: string; unsaved: string[] };
}

export interface Refusal { message: string; remedy: string }

export interface SweepHeader {
  revision: number; points: number; beams: number; every: number; image: [number, number]; shifts: number[]; pose: number[]; start: number; duration: number;
  no_returns: number; too_near: number; errors: number; mixed_points: number | null; timing: { load_ms: number; simulate_ms: number };
}

export interface Sweep extends SweepHeader {
  position: Float32Array; range: Float32Array; intensity: Float32Array; error: Float32Array; incidence: Float32Array;
  pixel: Uint32Array; object: Uint16Array; material: Uint16Array; class: Uint16Array; returns: Uint8Array; mixed: Uint8Array;
}

export interface Beam {
  revision: number; ring: number; column: number; azimuth_deg: number; elevation_deg: number; time: number; outcome: string;
  returns: { range: number; half_path: number; intensity: number; power: number; object: string | null; material: string | null; incidence_deg: number | null; true_range: number | null }[];
  truth: { range: number; object: string; material: string; incidence_deg: number } | null;
  signal:
    | { kind: "waveform"; start: number; step: number; samples: number[]; threshold: number }
    | { kind: "phasors"; frequencies_hz: number[]; waves: [number, number][]; ambiguities: number[]; wrapped: number[]; combined_ambiguity: number; detectable: number; sufficient: number }
    | { kind: "none" };
  paths: { points: number[][]; range: number; power: number; depth: number; is_abridged: boolean }[];
}

export interface Reflectance { material: string; wavelength_nm: number; incidence_deg: number[]; backscatter: number[]; mirror: number[]; power: number[] }
