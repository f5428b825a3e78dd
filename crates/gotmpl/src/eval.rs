//! Commands, operands, fields and calls: the half of the evaluator that turns expressions into values.
//!
//! Follows Go's executor step by step where it is observable: the node of an error, the effect of nil, the types of
//! constants.

use smallvec::SmallVec;

use crate::ast::{Command, Expr, NodeRef, Number};
use crate::cause::Cause;
use crate::error::Fault;
use crate::func::{Form, Func, Ty};
use crate::machine::{Exec, Frame, Machine};
use crate::methods;
use crate::taint::holds_taint;
use crate::value::{Data, MapType, Str, Val};

type Args = SmallVec<[Val; 4]>;

fn constant_text(text: &Str) -> Val {
    Val::new(Data::Str(text.clone()))
}

impl Machine<'_> {
    pub(crate) fn eval_command<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Val,
        command: &'t Command,
        last: Option<Val>,
    ) -> Exec<Val> {
        self.step(frame)?;
        let Some((first, rest)) = command.args.split_first() else { return Ok(Val::NIL) };
        match first {
            Expr::Field(fields) => {
                frame.node = NodeRef::Expr(first);
                return self.eval_fields(frame, dot, dot.clone(), &fields.names, first, rest, last);
            }
            Expr::Chain(chain) => {
                frame.node = NodeRef::Expr(first);
                if let Expr::Nil(_) = chain.node {
                    return self.fail(frame, format!("indirection through explicit nil in {first}"));
                }
                let receiver = self.eval_any(frame, dot, &chain.node)?;
                return self.eval_fields(frame, dot, receiver, &chain.fields, first, rest, last);
            }
            Expr::Func(_, func) => {
                frame.node = NodeRef::Expr(first);
                return self.eval_call(frame, dot, func, NodeRef::Command(command), None, rest, last);
            }
            Expr::Pipe(pipe) => {
                self.not_a_function(frame, first, rest, &last)?;
                self.deeper(frame)?;
                let value = self.eval_pipeline(frame, dot, pipe);
                self.shallower();
                return value;
            }
            Expr::Variable(variable) => {
                frame.node = NodeRef::Expr(first);
                let value = self.variable(frame, variable.slot, &variable.name)?;
                if variable.fields.is_empty() {
                    self.not_a_function(frame, first, rest, &last)?;
                    return Ok(value);
                }
                return self.eval_fields(frame, dot, value, &variable.fields, first, rest, last);
            }
            _ => {}
        }
        frame.node = NodeRef::Expr(first);
        self.not_a_function(frame, first, rest, &last)?;
        match first {
            Expr::Bool(_, truth) => Ok(self.written(Val::bool(*truth))),
            Expr::Dot(_) => Ok(dot.clone()),
            Expr::Number(number) => Ok(self.written(self.ideal_constant(frame, number)?)),
            Expr::Str(quoted) => Ok(self.written(constant_text(&quoted.text))),
            _ => self.fail(frame, "nil is not a command"),
        }
    }

    fn not_a_function(&self, frame: &Frame<'_>, first: &Expr, rest: &[Expr], last: &Option<Val>) -> Exec<()> {
        if !rest.is_empty() || last.is_some() {
            return self.fail(frame, Cause::NotAFunction(first.to_string()));
        }
        Ok(())
    }

    fn ideal_constant(&self, frame: &Frame<'_>, number: &Number) -> Exec<Val> {
        if let Some(imaginary) = number.imaginary {
            let real = number.float.unwrap_or(0.0);
            return Ok(Val::new(Data::Complex(std::sync::Arc::new((real, imaginary)))));
        }
        let is_hex = number.source.len() > 2
            && matches!(number.source.get(..2), Some("0x" | "0X"))
            && !number.source.contains(['p', 'P']);
        if !is_hex
            && !number.is_char
            && number.source.contains(['.', 'e', 'E', 'p', 'P'])
            && let Some(float) = number.float
        {
            return Ok(Val::float(float));
        }
        match number.int {
            Some(int) => Ok(Val::int(int)),
            None => self.fail(frame, format!("{} overflows int", number.source)),
        }
    }

    // Fields.

    #[allow(clippy::too_many_arguments)] // Go's own shape: node, arguments and piped value travel together.
    fn eval_fields<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Val,
        mut receiver: Val,
        names: &'t [Str],
        node: &'t Expr,
        args: &'t [Expr],
        last: Option<Val>,
    ) -> Exec<Val> {
        let Some((final_name, before)) = names.split_last() else { return Ok(receiver) };
        for name in before {
            receiver = match receiver.as_map().filter(|_| methods::find(&self.heap, &receiver, name.bytes()).is_none())
            {
                Some(map) => self.heap.lookup_on_way(map, name).unwrap_or_else(|| map.kind.zero().at(receiver.origin)),
                None => self.eval_field(frame, dot, receiver, name, node, &[], None)?,
            };
        }
        self.eval_field(frame, dot, receiver, final_name, node, args, last)
    }

    #[allow(clippy::too_many_arguments)]
    fn eval_field<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Val,
        receiver: Val,
        name: &Str,
        node: &'t Expr,
        args: &'t [Expr],
        last: Option<Val>,
    ) -> Exec<Val> {
        if receiver.is_nil() {
            if !receiver.is_interface() {
                return Ok(Val::NIL);
            }
            return self.fail(frame, Cause::NilPointer { field: name.text().into_owned() });
        }
        if let Some(method) = methods::find(&self.heap, &receiver, name.bytes()) {
            return self.eval_call(frame, dot, method, NodeRef::Expr(node), Some(receiver), args, last);
        }
        let has_args = !args.is_empty() || last.is_some();
        match &receiver.data {
            Data::Object(object) => {
                if let Some(field) = object.field(name.bytes()) {
                    if has_args {
                        let message = format!("{} has arguments but cannot be invoked as function", name.text());
                        return self.fail(frame, message);
                    }
                    return Ok(field.clone());
                }
            }
            Data::Map(map) => {
                if has_args {
                    return self.fail(frame, Cause::NotAMethod(name.text().into_owned()));
                }
                let found = self.heap.lookup(*map, name.bytes());
                return Ok(found.unwrap_or_else(|| map.kind.zero().at(receiver.origin)));
            }
            _ => {}
        }
        if let Some(field) = self.heap.pending_field(&receiver, &name.text()) {
            return Ok(field);
        }
        let of = self.heap.static_type(&receiver);
        let mut error = self.error(frame, None, Cause::NoField { field: name.text().into_owned(), of }.into());
        error.origin = receiver.origin;
        Err(error)
    }

    // Arguments.

    /// Evaluates an operand of any type.
    fn eval_any<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, expr: &'t Expr) -> Exec<Val> {
        frame.node = NodeRef::Expr(expr);
        match expr {
            Expr::Pipe(pipe) => {
                self.deeper(frame)?;
                let value = self.eval_pipeline(frame, dot, pipe);
                self.shallower();
                value
            }
            Expr::Func(_, func) => self.eval_call(frame, dot, func, NodeRef::Expr(expr), None, &[], None),
            Expr::Chain(chain) => {
                if let Expr::Nil(_) = chain.node {
                    return self.fail(frame, format!("indirection through explicit nil in {expr}"));
                }
                let receiver = self.eval_any(frame, dot, &chain.node)?;
                self.eval_fields(frame, dot, receiver, &chain.fields, expr, &[], None)
            }
            Expr::Field(fields) => self.eval_fields(frame, dot, dot.clone(), &fields.names, expr, &[], None),
            Expr::Variable(variable) => {
                let value = self.variable(frame, variable.slot, &variable.name)?;
                self.eval_fields(frame, dot, value, &variable.fields, expr, &[], None)
            }
            Expr::Dot(_) => Ok(dot.clone()),
            Expr::Nil(_) => Ok(Val::NIL),
            Expr::Bool(_, truth) => Ok(self.written(Val::bool(*truth))),
            Expr::Number(number) => Ok(self.written(self.ideal_constant(frame, number)?)),
            Expr::Str(quoted) => Ok(self.written(constant_text(&quoted.text))),
        }
    }

    /// A constant: secret if the surrounding text is.
    fn written(&self, constant: Val) -> Val {
        constant.taint(self.secret_text)
    }

    /// Evaluates an operand for a parameter of this type.
    fn eval_arg<'t>(&mut self, frame: &mut Frame<'t>, dot: &Val, ty: Ty, expr: &'t Expr) -> Exec<Val> {
        if !Self::is_constant(expr) {
            let value = self.eval_any(frame, dot, expr)?;
            return self.validate(frame, value, ty);
        }
        frame.node = NodeRef::Expr(expr);
        if let Expr::Nil(_) = expr {
            if ty.can_be_nil() {
                return Ok(Val::NIL);
            }
            return self.fail(frame, format!("cannot assign nil to {}", ty.name()));
        }
        match (ty, expr) {
            (Ty::Any | Ty::Value, _) => self.eval_any(frame, dot, expr),
            (Ty::Bool, Expr::Bool(_, truth)) => Ok(self.written(Val::bool(*truth))),
            (Ty::Bool, _) => self.fail(frame, format!("expected bool; found {expr}")),
            (Ty::Str, Expr::Str(quoted)) => Ok(self.written(constant_text(&quoted.text))),
            (Ty::Str, _) => self.fail(frame, format!("expected string; found {expr}")),
            (Ty::Int, Expr::Number(number)) if number.int.is_some() => {
                let int = number.int.unwrap_or_default();
                Ok(self.written(if ty == Ty::Int { Val::int(int) } else { Val::new(Data::Int64(int)) }))
            }
            (Ty::Int, _) => self.fail(frame, format!("expected integer; found {expr}")),
            (Ty::Float, Expr::Number(number)) if number.float.is_some() => {
                Ok(self.written(Val::float(number.float.unwrap_or_default())))
            }
            (Ty::Float, _) => self.fail(frame, format!("expected float; found {expr}")),
            _ => self.fail(frame, format!("can't handle {expr} for arg of type {}", ty.name())),
        }
    }

    /// Checks a value against a parameter's type.
    fn validate(&self, frame: &Frame<'_>, value: Val, ty: Ty) -> Exec<Val> {
        if matches!(ty, Ty::Any | Ty::Value) {
            return Ok(value.unboxed());
        }
        if value.is_nil() && !value.is_interface() {
            if ty.can_be_nil() {
                return Ok(Val::NIL);
            }
            return self.fail(frame, Cause::NoValue { wanted: ty.name() });
        }
        if let (Ty::Map, Data::Map(map)) = (ty, &value.data)
            && map.kind == MapType::Values
        {
            // A named map passed as a plain one becomes a plain one.
            let plain = Val::new(Data::Map(map.seen_as(MapType::Any))).at(value.origin);
            return Ok(plain.taint(value.is_tainted()));
        }
        if !value.is_nil() && ty.accepts(&self.heap, &value) || self.heap.is_undecided(&value) {
            return Ok(value.unboxed());
        }
        let found = (!value.is_nil()).then(|| self.heap.type_name(&value));
        self.fail(frame, Cause::WrongType { wanted: ty.name(), found })
    }

    // Calls.

    #[allow(clippy::too_many_arguments)]
    fn eval_call<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Val,
        func: &'static Func,
        node: NodeRef<'t>,
        receiver: Option<Val>,
        args: &'t [Expr],
        last: Option<Val>,
    ) -> Exec<Val> {
        let given = args.len() + usize::from(last.is_some());
        let fixed = func.params.len();
        if func.rest.is_some() {
            if given < fixed {
                let (function, found) = (func.name, args.len());
                return self.fail(frame, Cause::Arguments { function, wanted: fixed, is_least: true, found });
            }
        } else if given != fixed {
            let (function, found) = (func.name, given);
            return self.fail(frame, Cause::Arguments { function, wanted: fixed, is_least: false, found });
        }
        if matches!(func.form, Form::And | Form::Or) {
            return self.short_circuit(frame, dot, func, args, last);
        }
        let mut values = Args::new();
        values.extend(receiver);
        let ty_of = |index: usize| func.params.get(index).copied().or(func.rest).unwrap_or(Ty::Any);
        for (index, arg) in args.iter().enumerate() {
            values.push(self.eval_arg(frame, dot, ty_of(index), arg)?);
        }
        if let Some(last) = last {
            values.push(self.validate(frame, last, ty_of(args.len()))?);
        }
        if !self.heap.holes.is_empty()
            && let Some(hole) = self.heap.pending_result(func, &values)
        {
            let (origin, tainted) = self.join_origins(&values);
            return Ok(hole.at(origin).taint(tainted));
        }
        let outer_site = self.site;
        self.site = frame.tree.file.base + node.pos().unwrap_or(0);
        self.deeper(frame)?;
        let result = self.call(func, &values);
        self.shallower();
        self.site = outer_site;
        match result {
            Ok(result) => Ok(self.derive(func, &values, result)),
            Err(fault) => {
                frame.node = node;
                Err(self.call_error(frame, func, &values, fault))
            }
        }
    }

    fn call_error(&self, frame: &Frame<'_>, func: &Func, values: &[Val], fault: Fault) -> Box<crate::error::ExecError> {
        let fault = if holds_taint(&self.heap, values) { fault.without_words() } else { fault };
        let mut error = self.error(frame, Some(func.name), fault);
        error.origin = values.iter().map(|value| value.origin).find(|origin| *origin != 0).unwrap_or(0);
        error
    }

    fn short_circuit<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Val,
        func: &Func,
        args: &'t [Expr],
        last: Option<Val>,
    ) -> Exec<Val> {
        let mut passed = Args::new();
        for (at, arg) in args.iter().enumerate() {
            let value = self.eval_arg(frame, dot, Ty::Value, arg)?;
            let decides = self.heap.is_undecided(&value) || self.heap.truth(&value) == (func.form == Form::Or);
            if decides || (last.is_none() && at + 1 == args.len()) {
                return Ok(self.chosen(func.name, value, &passed));
            }
            passed.push(value);
        }
        let value = match last {
            Some(last) => self.validate(frame, last, Ty::Value)?,
            None => Val::NIL,
        };
        Ok(self.chosen(func.name, value, &passed))
    }
}
