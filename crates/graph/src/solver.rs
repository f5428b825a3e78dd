//! Runs tasks on threads: the only part of this crate that is aware of them.
//!
//! Every decision is made by [`Schedule`] under one lock; tasks themselves run outside of it. The calling thread
//! works too, and another one is started only when there are more ready tasks than idle threads.

use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::schedule::Schedule;
use crate::sync::{Condvar, Mutex, MutexGuard, Scope, panicking, scope};
use crate::task::{Deps, Step};
use std::hash::Hash;
use std::sync::PoisonError;

/// Default limit on the number of tasks.
pub const DEFAULT_TASK_LIMIT: usize = 1_000_000;

/// Maps a key to its group.
type GroupOf<'a, K> = Box<dyn Fn(&K) -> Option<usize> + Send + Sync + 'a>;

/// Solves tasks that discover their dependencies while they run.
pub struct Solver<'a, K, F> {
    task: F,
    threads: usize,
    group_of: Option<GroupOf<'a, K>>,
    limits: Vec<usize>,
    task_limit: usize,
    cancel: Cancel,
}

impl<'a, K, F> Solver<'a, K, F>
where
    K: Clone + Eq + Hash + Ord + Send + Sync,
{
    /// A solver for tasks that are all run by `task`, on the calling thread only.
    ///
    /// The same key with the same results must always give the same answer.
    pub fn new<R, E>(task: F) -> Self
    where
        F: Fn(&K, &Deps<K, R>) -> Step<K, R, E> + Sync,
    {
        Solver {
            task,
            threads: 1,
            group_of: None,
            limits: Vec::new(),
            task_limit: DEFAULT_TASK_LIMIT,
            cancel: Cancel::new(),
        }
    }

    /// Maximum number of concurrent tasks; 1 stays on the calling thread.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Puts keys into groups, of which the one numbered `n` never has more than `limits[n]` tasks running (at least
    /// one, so that no task waits for ever). Keys without a group, or with a number that has no limit, are
    /// unrestricted.
    pub fn groups(
        mut self,
        limits: impl Into<Vec<usize>>,
        group_of: impl Fn(&K) -> Option<usize> + Send + Sync + 'a,
    ) -> Self {
        self.limits = limits.into();
        self.group_of = Some(Box::new(group_of));
        self
    }

    /// Maximum number of tasks in total, against tasks that create new ones without end.
    pub fn task_limit(mut self, limit: usize) -> Self {
        self.task_limit = limit;
        self
    }

    /// Honours a flag that may be raised elsewhere.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Runs `roots` and all discovered dependencies, each to its end.
    ///
    /// A panic in a task stops the rest and is passed on.
    pub fn solve<R, E>(&self, roots: impl IntoIterator<Item = K>) -> Outcome<K, R, E>
    where
        F: Fn(&K, &Deps<K, R>) -> Step<K, R, E> + Sync,
        R: Send + Sync,
        E: Send,
    {
        let mut schedule = Schedule::new(&self.limits, self.task_limit);
        let roots = roots.into_iter();
        schedule.reserve(roots.size_hint().0);
        for root in roots {
            schedule.intern(root, |key| self.group(key));
        }
        let crew =
            Crew { solver: self, board: Mutex::new(Board { schedule, hands: 1, idle: 0 }), bell: Condvar::new() };
        scope(|threads| crew.work(threads));
        crew.board.into_inner().unwrap_or_else(PoisonError::into_inner).schedule.into_outcome()
    }

    fn group(&self, key: &K) -> Option<usize> {
        self.group_of.as_ref().and_then(|group_of| group_of(key))
    }
}

/// State shared by the threads.
struct Crew<'s, 'a, K, R, E, F> {
    solver: &'s Solver<'a, K, F>,
    board: Mutex<Board<K, R, E>>,
    /// Signalled when an idle thread has work, and when everything is done.
    bell: Condvar,
}

struct Board<K, R, E> {
    schedule: Schedule<K, R, E>,
    /// Threads running or idle, the calling one included.
    hands: usize,
    idle: usize,
}

impl<K, R, E, F> Crew<'_, '_, K, R, E, F>
where
    K: Clone + Eq + Hash + Ord + Send + Sync,
    F: Fn(&K, &Deps<K, R>) -> Step<K, R, E> + Sync,
    R: Send + Sync,
    E: Send,
{
    /// The main loop of each thread until every task has ended.
    fn work<'scope, 'env>(&'env self, threads: &'scope Scope<'scope, 'env>) {
        let mut board = self.lock();
        loop {
            if self.solver.cancel.is_cancelled() {
                board.schedule.stop();
            }
            let Some((id, key, deps)) = board.schedule.start() else {
                if board.schedule.is_quiet() {
                    board.schedule.close();
                    self.bell.notify_all();
                    return;
                }
                board.idle += 1;
                board = self.bell.wait(board).unwrap_or_else(PoisonError::into_inner);
                board.idle -= 1;
                continue;
            };
            let more = self.call_hands(&mut board);
            drop(board);
            if more {
                threads.spawn(move || self.work(threads));
            }
            let step = self.run(&key, &deps);
            board = self.lock();
            board.schedule.settle(id, deps, step, |key| self.solver.group(key));
        }
    }

    /// Wakes an idle thread for the ready tasks beyond the one just started; true asks for a new thread.
    fn call_hands(&self, board: &mut Board<K, R, E>) -> bool {
        if !board.schedule.has_ready() {
            return false;
        }
        if board.idle > 0 {
            // A woken thread wakes the next one, so one is enough.
            self.bell.notify_one();
            return false;
        }
        let more = board.hands < self.solver.threads;
        board.hands += usize::from(more);
        more
    }

    fn run(&self, key: &K, deps: &Deps<K, R>) -> Step<K, R, E> {
        let _alarm = Alarm(self);
        (self.solver.task)(key, deps)
    }

    fn lock(&self) -> MutexGuard<'_, Board<K, R, E>> {
        // Tasks run outside of the lock, so a panic cannot leave the board half written.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes all waiting threads when a task panics; the scope then passes the panic on.
struct Alarm<'c, 's, 'a, K, R, E, F>(&'c Crew<'s, 'a, K, R, E, F>);

impl<K, R, E, F> Drop for Alarm<'_, '_, '_, K, R, E, F> {
    fn drop(&mut self) {
        if panicking() {
            let mut board = self.0.board.lock().unwrap_or_else(PoisonError::into_inner);
            board.schedule.give_up();
            self.0.bell.notify_all();
        }
    }
}
