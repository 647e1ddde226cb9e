//! Undo and redo.

/// Maximum number of steps that can be undone.
const MAX_STEPS: usize = 200;

/// States before and after the current one.
#[derive(Debug)]
pub struct History<T> {
    undone: Vec<T>,
    past: Vec<T>,
    /// Gesture of the last change.
    gesture: Option<u64>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self {
            undone: Vec::new(),
            past: Vec::new(),
            gesture: None,
        }
    }
}

impl<T: Clone> History<T> {
    /// Keeps the state before a change. Changes of one gesture, such as the motion of a slider, are one step.
    pub fn keep(&mut self, before: &T, gesture: u64) {
        self.undone.clear();
        if self.gesture == Some(gesture) {
            return;
        }
        self.gesture = Some(gesture);
        if self.past.len() == MAX_STEPS {
            self.past.remove(0);
        }
        self.past.push(before.clone());
    }

    /// The state before the last step.
    pub fn undo(&mut self, current: &T) -> Option<T> {
        let before = self.past.pop()?;
        self.undone.push(current.clone());
        self.gesture = None;
        Some(before)
    }

    /// The state after the last undone step.
    pub fn redo(&mut self, current: &T) -> Option<T> {
        let after = self.undone.pop()?;
        self.past.push(current.clone());
        self.gesture = None;
        Some(after)
    }

    /// Number of steps that can be undone and redone.
    pub fn steps(&self) -> [usize; 2] {
        [self.past.len(), self.undone.len()]
    }

    /// Changes every kept state.
    pub fn change_each(&mut self, change: impl FnMut(&mut T)) {
        self.past
            .iter_mut()
            .chain(&mut self.undone)
            .for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gesture_is_one_step_and_a_change_ends_the_redo() {
        let mut history = History::default();
        let mut state = 0;
        for (next, gesture) in [(1, 1), (2, 1), (3, 2)] {
            history.keep(&state, gesture);
            state = next;
        }
        assert_eq!(history.steps(), [2, 0]);
        assert_eq!(history.undo(&state), Some(2));
        assert_eq!(history.undo(&2), Some(0));
        assert_eq!(history.undo(&0), None);
        assert_eq!(history.redo(&0), Some(2));
        history.keep(&2, 2);
        assert_eq!(history.redo(&9), None);
        assert_eq!(history.undo(&9), Some(2));
    }
}
