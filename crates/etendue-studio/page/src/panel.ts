// A panel of the side bar, rebuilt when what it shows changes, but not while the pointer is pressed on it.

import GUI from "lil-gui";
import { element } from "./app";

export abstract class Panel {
  readonly element = element("div");
  private shown = "";
  private isHeld = false;
  private closed = new Set<string>();
  private guis: GUI[] = [];

  constructor() {
    this.element.addEventListener("pointerdown", () => (this.isHeld = true), true);
    addEventListener("pointerup", () => {
      if (!this.isHeld) return;
      this.isHeld = false;
      setTimeout(() => this.refresh(), 150);
    }, true);
  }

  /** What the panel shows; another text means that it is rebuilt. */
  protected abstract key(): string;
  protected abstract build(): void;

  /** Rebuilds the panel if what it shows changed. */
  refresh() {
    const active = document.activeElement;
    const isTyping = active instanceof HTMLInputElement && active.type !== "range" && this.element.contains(active);
    if (this.isHeld || isTyping) return;
    const key = this.key();
    if (key === this.shown) return;
    this.shown = key;
    const scroll = this.element.parentElement?.scrollTop ?? 0;
    this.guis.forEach((gui) => gui.destroy());
    this.guis = [];
    this.element.replaceChildren();
    this.build();
    for (const gui of this.guis.flatMap((gui) => gui.foldersRecursive())) {
      const title = gui._title;
      if (this.closed.has(title)) gui.close();
      gui.onOpenClose((changed) => (changed._closed ? this.closed.add(changed._title) : this.closed.delete(changed._title)));
    }
    if (this.element.parentElement) this.element.parentElement.scrollTop = scroll;
  }

  /** A group of fields. */
  protected gui(title: string): GUI {
    const gui = new GUI({ container: this.element, title, autoPlace: false });
    this.element.append(gui.domElement);
    this.guis.push(gui);
    return gui;
  }
}
