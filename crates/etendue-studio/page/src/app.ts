// What the parts of the page share.

import type { Connection } from "./connection";
import type { Selection, View } from "./view";
import type { Edit, Hello, State, Sweep, Table } from "./types";

export interface App {
  connection: Connection;
  view: View;
  hello: Hello | null;
  state: State | null;
  sweep: Sweep | null;
  selection: Selection;
  /** Selected material, by its number. */
  material: number;
  select(selection: Selection): void;
  selectMaterial(material: number): void;
  toast(text: string, remedy?: string, isBad?: boolean): void;
  edit(edits: Edit[], gesture?: number): void;
  /** Shows another set of points beside those of the sweep; null for none. */
  recording(positions: Float32Array | null): void;
}

/** Table of a material in the scene file, if it has one. */
export function ownMaterial(state: State, name: string): Table | undefined {
  return (state.scene.toml.materials as Table | undefined)?.[name] as Table | undefined;
}

/** An element with a class and children. */
export function element<K extends keyof HTMLElementTagNameMap>(kind: K, className = "", ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(kind);
  made.className = className;
  made.append(...children);
  return made;
}

export function button(text: string, title: string, clicked: () => void): HTMLButtonElement {
  const made = element("button", "", text);
  made.title = title;
  made.addEventListener("click", clicked);
  return made;
}

/** A list of choices with a first line that is no choice. */
export function chooser(first: string, choices: [string, string][], chosen: (value: string) => void): HTMLSelectElement {
  const made = element("select");
  made.append(new Option(first, ""), ...choices.map(([value, label]) => new Option(label, value)));
  made.addEventListener("change", () => {
    if (made.value) chosen(made.value);
    made.value = "";
  });
  return made;
}
