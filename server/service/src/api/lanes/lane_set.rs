//! Lanes by name, as in messages, and by index, as in the core.

use offbeat_core::ids::check_names;
use offbeat_core::lanes::{
    Job, LanePolicy, LaneSet, LaneSetSpec, LaneSpec, OnTimeout, Prediction, Route, RouteWhy,
};
use offbeat_core::limits::JOB_ID;
use offbeat_core::{Reason, Rejection};

use crate::api::convert::{duration, required, span, unknown_enum_value};
use offbeat_proto as proto;

/// A lane set, and the names of its lanes.
pub(super) struct NamedLanes {
    pub(super) set: LaneSet,
    names: Vec<String>,
}

impl NamedLanes {
    pub(super) fn try_new(message: Option<proto::LaneSet>) -> Result<Self, Rejection> {
        let message = required("lane_set", message, "must be set")?;
        Self::read(message).map_err(|refused| refused.under("lane_set"))
    }

    fn read(message: proto::LaneSet) -> Result<Self, Rejection> {
        let proto::LaneSet { lanes, policy, on_timeout, max_express_slow_probability } = message;
        check_names(lanes.iter().map(|lane| lane.name.as_str()))
            .map_err(|refused| refused.under("lanes"))?;
        let named = lanes.into_iter().enumerate().map(|(place, lane)| {
            lane_of(lane).map_err(|refused| refused.under(&format!("lanes[{place}]")))
        });
        let (names, lanes) = named.collect::<Result<_, _>>()?;
        let spec = LaneSetSpec {
            lanes,
            policy: policy_of(policy)?,
            on_timeout: on_timeout_of(on_timeout)?,
            max_express_slow_probability,
        };
        Ok(Self { set: spec.check()?, names })
    }

    fn name(&self, lane: usize) -> String {
        self.names.get(lane).cloned().unwrap_or_default()
    }

    /// The place of a lane by its name.
    pub(super) fn place(&self, field: &str, name: &str) -> Result<usize, Rejection> {
        self.names.iter().position(|other| other == name).ok_or_else(|| {
            let allowed = format!("must be a lane of the set: {}", self.names.join(", "));
            Rejection::new(Reason::OutOfRange, field, format!("{name:?}"), allowed)
        })
    }

    /// Values that a request gives for some lanes, in the order of all lanes; defaults for the
    /// rest.
    pub(super) fn by_lane<T: Clone + Default>(
        &self,
        field: &'static str,
        named: Vec<(String, T)>,
    ) -> Result<ByLane<T>, Rejection> {
        let mut values = vec![T::default(); self.names.len()];
        let mut places = vec![None; self.names.len()];
        for (at, (name, value)) in named.into_iter().enumerate() {
            let path = format!("{field}[{at}].lane_name");
            let lane = self.place(&path, &name)?;
            if let (Some(into), Some(place)) = (values.get_mut(lane), places.get_mut(lane)) {
                if place.replace(at).is_some() {
                    let allowed = "must be a lane that is not named before";
                    let name = format!("{name:?}");
                    return Err(Rejection::new(Reason::Contradictory, path, name, allowed));
                }
                *into = value;
            }
        }
        Ok(ByLane { field, values, places })
    }

    /// What is known of a job.
    pub(super) fn job(
        &self,
        timed_out_lane_names: &[String],
        prediction: Option<proto::LanePrediction>,
    ) -> Result<Job, Rejection> {
        let place =
            |(at, name): (usize, &String)| self.place(&format!("timed_out_lane_names[{at}]"), name);
        let timed_out =
            timed_out_lane_names.iter().enumerate().map(place).collect::<Result<_, _>>()?;
        Ok(Job { timed_out, prediction: prediction.map(prediction_of).transpose()? })
    }

    pub(super) fn route(&self, route: Route) -> proto::LaneRoute {
        let Route { lane, attempt, timeout, on_timeout, why, resumes } = route;
        let reason = match why {
            RouteWhy::Untried => proto::RouteReason::Untried,
            RouteWhy::Demoted => proto::RouteReason::Demoted,
            RouteWhy::PredictedSlow => proto::RouteReason::PredictedSlow,
            RouteWhy::IdleWorker => proto::RouteReason::IdleWorker,
        };
        proto::LaneRoute {
            lane_name: self.name(lane),
            attempt: index(attempt),
            attempt_timeout: timeout.map(duration),
            next_lane_name: on_timeout.map(|lane| self.name(lane)).unwrap_or_default(),
            reason: reason.into(),
            resumes,
        }
    }

    pub(super) fn failure(&self, lane: usize) -> proto::PermanentFailure {
        let (name, timeout) = (self.name(lane), self.set.timeout(lane));
        let after = timeout.map(|timeout| format!(" of {timeout}")).unwrap_or_default();
        let message = format!("reached the timeout{after} of lane {name:?}, the last");
        let exceeded_timeout = timeout.map(duration);
        proto::PermanentFailure { last_lane_name: name, exceeded_timeout, message }
    }
}

/// One value for each lane, and where in the request it stands.
pub(super) struct ByLane<T> {
    field: &'static str,
    pub(super) values: Vec<T>,
    places: Vec<Option<usize>>,
}

impl<T> ByLane<T> {
    /// A refusal by the core, with the index of the lane replaced by its index in the request.
    pub(super) fn of_request(&self, mut refused: Rejection) -> Rejection {
        let numbered = refused.field.strip_prefix(self.field).and_then(|rest| {
            let (lane, rest) = rest.strip_prefix('[')?.split_once(']')?;
            let place = self.places.get(lane.parse::<usize>().ok()?)?.as_ref()?;
            Some(format!("{}[{place}]{rest}", self.field))
        });
        if let Some(field) = numbered {
            refused.field = field;
        }
        refused
    }
}

/// Checks the length of a job's ID; the answer repeats the ID unchanged.
pub(super) fn job_id(id: &str) -> Result<(), Rejection> {
    if JOB_ID.allows(id.len() as i128) {
        return Ok(());
    }
    let (value, allowed) = (format!("{} bytes", id.len()), format!("must be {JOB_ID}"));
    Err(Rejection::new(Reason::OutOfRange, "id", value, allowed))
}

/// An index or a number of attempts as an `int32`.
pub(super) fn index(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

fn lane_of(lane: proto::Lane) -> Result<(String, LaneSpec), Rejection> {
    let proto::Lane { name, worker_count, attempt_timeout } = lane;
    let timeout = attempt_timeout.map(|timeout| span("attempt_timeout", timeout)).transpose()?;
    Ok((name, LaneSpec { worker_count: worker_count.into(), attempt_timeout: timeout }))
}

fn prediction_of(prediction: proto::LanePrediction) -> Result<Prediction, Rejection> {
    use proto::lane_prediction::Prediction as PredictionMessage;
    let allowed = "slow_probability or run_time must be set";
    match required("prediction.prediction", prediction.prediction, allowed)? {
        PredictionMessage::SlowProbability(probability) => {
            Ok(Prediction::SlowProbability(probability))
        }
        PredictionMessage::RunTime(time) => {
            Ok(Prediction::RunTime(span("prediction.run_time", time)?))
        }
    }
}

fn policy_of(number: i32) -> Result<LanePolicy, Rejection> {
    match proto::LanePolicy::try_from(number) {
        Ok(proto::LanePolicy::Unspecified | proto::LanePolicy::ExpressFirst) => {
            Ok(LanePolicy::ExpressFirst)
        }
        Ok(proto::LanePolicy::SlowFirst) => Ok(LanePolicy::SlowFirst),
        Err(_) => Err(unknown_enum_value("policy", number, "0 to 2, a value of LanePolicy")),
    }
}

pub(super) fn on_timeout_of(number: i32) -> Result<OnTimeout, Rejection> {
    match proto::TimeoutAction::try_from(number) {
        Ok(proto::TimeoutAction::Unspecified | proto::TimeoutAction::Abort) => Ok(OnTimeout::Abort),
        Ok(proto::TimeoutAction::Suspend) => Ok(OnTimeout::Suspend),
        Err(_) => Err(unknown_enum_value("on_timeout", number, "0 to 2, a value of TimeoutAction")),
    }
}
