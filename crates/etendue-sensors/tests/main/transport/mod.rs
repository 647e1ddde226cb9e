//! Light through small scenes.

mod golden;

mod stage;
