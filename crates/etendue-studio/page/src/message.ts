// Binary messages: the length of a JSON header, the header, columns of numbers.

const KINDS = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

interface Entry { name: string; kind: keyof typeof KINDS; offset: number; bytes: number }

/** The header of a message with a typed array for each of its columns. */
export function decode<T>(message: ArrayBuffer): T {
  const length = new DataView(message).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(message, 4, length)));
  for (const entry of header.columns as Entry[]) {
    const kind = KINDS[entry.kind];
    header[entry.name] = new kind(message, 4 + length + entry.offset, entry.bytes / kind.BYTES_PER_ELEMENT);
  }
  return header as T;
}
