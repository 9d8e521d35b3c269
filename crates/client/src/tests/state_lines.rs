//! All state of a client as sorted lines `name=value`, in the words of the field: orders and messages by ClOrdID(11).
//! The lines do not depend on how the state is stored.
//!
//! Each struct is taken apart field by field, so that a new field does not compile before it has a line, or is left out
//! here with its reason.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_harness::worlds::{StateLines, shown};

use crate::OrderClient;
use crate::book::{ClientBook, ClientOrder, FinishedId, SentMessage};
use crate::client::Task;
use crate::fields::MessageFields;
use crate::sending::{Sending, Targets};
use crate::sequence::SentNumbers;

/// The state that the journal keeps, and the state that ends with the process.
pub(super) fn state_lines(client: &OrderClient) -> Vec<String> {
    let mut lines = StateLines::default();
    add_kept(&mut lines, &client.book);
    add_running(&mut lines, client);
    lines.sorted()
}

/// The state that the journal keeps. It is the same after a restart.
pub(super) fn kept_lines(book: &ClientBook) -> Vec<String> {
    let mut lines = StateLines::default();
    add_kept(&mut lines, book);
    lines.sorted()
}

fn add_kept(lines: &mut StateLines, book: &ClientBook) {
    let ClientBook {
        orders,
        messages,
        groups,
        // Numbers of the orders in this process.
        next_order: _,
        next_id,
        // See `add_book`.
        last: _,
        unanswered: _,
        finished: _,
        finished_ids,
    } = book;
    lines.add("next number of a ClOrdID", next_id);
    for (group, next) in groups {
        lines.add(format_args!("group {group} next number"), next);
    }
    for (number, finished) in (1..).zip(finished_ids) {
        let FinishedId { id, ord_status } = finished;
        lines.add(
            format_args!("finished order {number:05}"),
            format_args!("{id} OrdStatus {ord_status}"),
        );
    }
    let open = orders.values().filter(|order| !order.is_final());
    let in_order: Vec<&str> = open.clone().map(|order| &*order.ids[0]).collect();
    lines.add("open orders as they were sent", in_order.join(" "));
    for order in open {
        add_order(lines, "open order", order);
        let first = &order.ids[0];
        for id in order.ids.iter().skip(1) {
            if let Some(SentMessage {
                msg_type, changes, ..
            }) = messages.get(id)
            {
                lines.add(
                    format_args!("request {id} of {first}"),
                    format_args!("35={msg_type}|{}", shown(changes.as_bytes())),
                );
            }
        }
    }
}

fn add_order(lines: &mut StateLines, what: &str, order: &ClientOrder) {
    let ClientOrder {
        id,
        ids,
        order_id,
        fields,
        ord_status,
        cum,
        leaves,
    } = order;
    let first = &ids[0];
    let requests: Vec<&str> = ids.iter().skip(1).map(|id| &**id).collect();
    lines.add(
        format_args!("{what} {first}"),
        format_args!(
            "ClOrdID {id}, OrderID {}, OrdStatus {ord_status}, CumQty {cum}, LeavesQty {leaves}, requests {}, {}",
            shown(order_id.as_bytes()),
            requests.join(" "),
            shown(fields.as_bytes())
        ),
    );
}

/// Adds the state that ends with the process.
fn add_running(lines: &mut StateLines, client: &OrderClient) {
    let OrderClient {
        // Settings.
        session: _,
        layout: _,
        timeout: _,
        listener: _,
        // A buffer.
        decoder: _,
        book,
        numbers,
        templates,
        task,
        is_logged_on,
        has_started,
        stamps,
        reports,
    } = client;
    add_book(lines, book);
    lines.add("is logged on", is_logged_on);
    lines.add("run has begun", has_started);
    lines.add("stamps", stamps);
    lines.add("answers not counted by a wait", reports);
    for (name, message) in templates {
        lines.add(format_args!("template {name}"), message_text(message));
    }
    let task = task.as_ref().map(|task| task_text(book, task));
    lines.add("task", task.unwrap_or_default());
    let SentNumbers { next, sent } = numbers;
    lines.add("next MsgSeqNum", next);
    for (seq, id) in sent {
        lines.add(
            format_args!("MsgSeqNum {seq:06}"),
            id.as_deref().unwrap_or("without ClOrdID"),
        );
    }
}

fn add_book(lines: &mut StateLines, book: &ClientBook) {
    let ClientBook {
        orders,
        messages,
        last,
        unanswered,
        finished,
        // See `add_kept`.
        groups: _,
        next_order: _,
        next_id: _,
        finished_ids: _,
    } = book;
    let first_id = |order: &u64| orders.get(order).map(|order| order.ids[0].to_string());
    let order_id = |order: Option<&u64>| order.and_then(first_id).unwrap_or_default();
    lines.add("last order", order_id(last.as_ref()));
    lines.add("messages without an answer", unanswered);
    lines.add("finished orders of earlier runs", finished);
    for order in orders.values().filter(|order| order.is_final()) {
        add_order(lines, "finished in memory", order);
    }
    for (id, message) in messages {
        let SentMessage {
            order,
            msg_type,
            changes,
            due,
            latency,
            rejected,
        } = message;
        let due = due.map_or("an earlier run".to_string(), |due| due.0.to_string());
        let latency = latency.map_or("no answer".to_string(), |latency| {
            format!("answer after {}", latency.0)
        });
        lines.add(
            format_args!("message {id}"),
            format_args!(
                "35={msg_type}|{} of order {}, sent at {due}, {latency}, rejected {rejected}",
                shown(changes.as_bytes()),
                order_id(order.as_ref())
            ),
        );
    }
}

fn task_text(book: &ClientBook, task: &Task) -> String {
    match task {
        Task::Send(sending) => sending_text(book, sending),
        Task::Reports { count, until } => format!("wait for {count} reports until {}", until.0),
        Task::All { until } => format!("wait for all answers until {}", until.0),
        Task::Pause { until } => format!("wait until {}", until.0),
        Task::Done => "done".to_string(),
    }
}

fn sending_text(book: &ClientBook, sending: &Sending) -> String {
    let Sending {
        message,
        targets,
        group,
        increments,
        count,
        sent,
        interval,
        burst,
        logon_until,
        begun,
    } = sending;
    let first_id = |order: &u64| book.orders.get(order).map_or("", |order| &*order.ids[0]);
    let targets = match targets {
        Targets::Template => "of the template".to_string(),
        Targets::Orders(orders) => orders.iter().map(first_id).collect::<Vec<_>>().join(" "),
        Targets::Group { name, next } => format!("group {name} from {next}"),
    };
    let message = message_text(message);
    let group = group.as_deref().unwrap_or("none");
    let interval = interval.map_or("none".to_string(), |interval| interval.0.to_string());
    let begun = begun.map_or("not yet".to_string(), |begun| {
        format!("{} {}", begun.wall.0, begun.mono.0)
    });
    format!(
        "send {message} for {targets}, group {group}, raised {increments}, sent {sent} of {count}, every {interval} by \
         {burst}, logon until {}, begun {begun}",
        logon_until.0
    )
}

fn message_text(message: &MessageFields) -> String {
    let MessageFields { msg_type, fields } = message;
    let fields = fields.iter().map(|(tag, value)| format!("|{tag}={value}"));
    format!("35={msg_type}{}", fields.collect::<String>())
}
