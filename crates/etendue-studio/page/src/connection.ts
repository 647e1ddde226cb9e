// The connection to the session: requests with answers, and edits of which only the newest waits.

import type { AimEvent } from "./aim_panel";
import { decode } from "./message";
import type { FitEvent } from "./recording_panel";
import type { RobotEvent } from "./robot_panel";
import type { Edit, Hello, Json, Refusal, State, Sweep } from "./types";

export class RefusedError extends Error {
  constructor(readonly refusal: Refusal) { super(refusal.message); }
}

interface Listeners {
  hello(hello: Hello): void;
  state(state: State): void;
  sweep(sweep: Sweep): void;
  trouble(refusal: Refusal): void;
  fit(event: FitEvent): void;
  robot(event: RobotEvent): void;
  aim(event: AimEvent): void;
  closed(): void;
}

/** Edits of a gesture that wait for the answer to the ones before. */
interface Waiting { gesture: number; edits: Edit[]; began: number; key: string }

export class Connection {
  private next = 1;
  private answers = new Map<number, { done: (value: any) => void; failed: (error: Error) => void }>();
  private waiting: Waiting[] = [];
  private isSending = false;
  private client = 0;
  private gestures = 0;
  /** Time of the event (ms) that led to each revision that is not drawn yet. */
  private began = new Map<number, number>();
  /** The last drawn revision, and when it was drawn. */
  private last = { revision: 0, at: 0 };
  /** Times (ms) from the event of an edit to its drawn points. */
  readonly latencies: number[] = [];

  constructor(private socket: WebSocket, private on: Listeners) {}

  /** Receives messages, first those that arrived before. */
  listen(received: (string | ArrayBuffer)[]) {
    for (const data of received.splice(0)) this.receive(data);
    this.socket.onmessage = (event) => this.receive(event.data);
    const closed = () => {
      for (const { failed } of this.answers.values()) failed(new Error("the connection is closed"));
      this.answers.clear();
      this.on.closed();
    };
    if (this.socket.readyState === WebSocket.CLOSED) closed();
    else this.socket.onclose = closed;
  }

  /** Ends the connection; nothing more is received. */
  close() {
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
  }

  private receive(data: string | ArrayBuffer) {
    if (data instanceof ArrayBuffer) {
      const sweep = decode<Sweep>(data);
      this.on.sweep(sweep);
      this.socket.send(JSON.stringify({ drawn: sweep.revision }));
      return;
    }
    const message = JSON.parse(data);
    if (message.state) this.on.state(message.state);
    else if (message.answer) this.answered(message.answer);
    else if (message.trouble) this.on.trouble(message.trouble);
    else if (message.fit) this.on.fit(message.fit);
    else if (message.robot) this.on.robot(message.robot);
    else if (message.aim) this.on.aim(message.aim);
    else if (message.hello) {
      this.client = message.hello.client;
      this.on.hello(message.hello);
    }
  }

  private answered(answer: { id: number; ok?: Json; refusal?: Refusal }) {
    const waiting = this.answers.get(answer.id);
    this.answers.delete(answer.id);
    if (answer.refusal) {
      if (waiting) waiting.failed(new RefusedError(answer.refusal));
      else this.on.trouble(answer.refusal);
    } else waiting?.done(answer.ok);
  }

  /** Sends a request; the answer, or a {@link RefusedError}. */
  request<T>(request: Json): Promise<T> {
    const id = this.next++;
    return new Promise((done, failed) => {
      this.answers.set(id, { done, failed });
      this.socket.send(JSON.stringify({ id, request }));
    });
  }

  /** Whether an event waits for the drawing of a revision. */
  awaits(revision: number): boolean {
    return this.isSending || [...this.began.keys()].some((waiting) => waiting <= revision);
  }

  /** Notes that the points of a revision are drawn. */
  drawn(revision: number) {
    this.last = { revision, at: performance.now() };
    for (const [waiting, began] of this.began) {
      if (waiting > revision) continue;
      this.latencies.push(this.last.at - began);
      this.began.delete(waiting);
    }
    if (this.latencies.length > 1000) this.latencies.splice(0, 500);
  }

  /** A number for edits that are one step of the history: the motion of a slider or a gizmo. */
  gesture(): number {
    return this.client * 1_000_000 + ++this.gestures;
  }

  /** Sends edits. While an answer is awaited, edits of the same key replace each other. */
  edit(gesture: number, edits: Edit[]) {
    const key = gesture + JSON.stringify(edits, (name, value) => (name === "value" || typeof value === "number" ? 0 : value));
    const began = performance.now();
    const same = this.waiting.find((one) => one.key === key);
    if (same) Object.assign(same, { edits });
    else this.waiting.push({ gesture, edits, began, key });
    void this.send();
  }

  private async send() {
    if (this.isSending) return;
    const next = this.waiting.shift();
    if (!next) return;
    this.isSending = true;
    try {
      const { gesture, edits } = next;
      const answer = await this.request<{ revision: number }>({ edit: { gesture, edits } } as unknown as Json);
      // The sweep may be drawn before the answer is here
      if (this.last.revision < answer.revision) this.began.set(answer.revision, Math.min(next.began, this.began.get(answer.revision) ?? Infinity));
      else if (this.last.at > next.began) this.latencies.push(this.last.at - next.began);
    } catch (error) {
      if (error instanceof RefusedError) this.on.trouble(error.refusal);
    }
    this.isSending = false;
    void this.send();
  }
}
