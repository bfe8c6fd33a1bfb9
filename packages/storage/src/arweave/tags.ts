// Tags of a data item (ANS-104): an Avro array of records with two strings each.

export type Tag = readonly [name: string, value: string]

export function encodeTags(tags: readonly Tag[]): Buffer {
  const texts = tags.flat().map((text) => Buffer.from(text))
  const records = texts.flatMap((text) => [encodeLong(text.length), text])
  return Buffer.concat([encodeLong(tags.length), ...records, encodeLong(0)])
}

/** Zigzag, which doubles what is not negative, in groups of seven bits, the lowest first. */
function encodeLong(value: number): Buffer {
  const bytes: number[] = []
  let rest = value * 2
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
