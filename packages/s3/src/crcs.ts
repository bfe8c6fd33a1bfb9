// CRC-64/NVME and CRC-32C in WebAssembly, assembled here: JavaScript has no fast 64-bit integers. It reads 16 bytes at
// a time, each through its own table ("slicing by 16").

const SLICES = 16
const TABLE_BYTES = 256 * 8
/** The position of the input in memory: after the tables. */
const INPUT = SLICES * TABLE_BYTES
const PAGE = 65_536
const PAGES = 2
const MAX_INPUT = PAGES * PAGE - INPUT

interface Machine {
  memory: Uint8Array
  /** The state after `length` bytes of input. */
  update: (state: bigint, length: number) => bigint
}

/** The checksum of bytes; with `initial`, of these bytes after those whose checksum it is. */
type Crc = (bytes: Uint8Array, initial?: bigint) => bigint

export const crc64nvme = crc(64, 0x9a6c9329ac4bc9b5n)
export const crc32c = crc(32, 0x82f63b78n)

function crc(bits: number, polynomial: bigint): Crc {
  const mask = BigInt.asUintN(bits, -1n)
  let loaded: Machine | null = null
  return (bytes, initial = 0n) => {
    loaded ??= load(polynomial)
    const { memory, update } = loaded
    let state = initial ^ mask
    for (let at = 0; at < bytes.length; at += MAX_INPUT) {
      const part = bytes.subarray(at, at + MAX_INPUT)
      memory.set(part, INPUT)
      state = update(state, part.length)
    }
    return BigInt.asUintN(bits, state) ^ mask
  }
}

function load(polynomial: bigint): Machine {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(assemble()))
  const { buffer } = exports.memory as WebAssembly.Memory
  new BigUint64Array(buffer).set(makeTables(polynomial))
  return { memory: new Uint8Array(buffer), update: exports.update as Machine['update'] }
}

/** Table `k` contains the value of a byte that is followed by `k` bytes. */
function makeTables(polynomial: bigint): BigUint64Array {
  const tables = new BigUint64Array(SLICES * 256)
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte)
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n
    tables[byte] = value
  }
  for (let i = 256; i < tables.length; i++) {
    const shorter = tables[i - 256] as bigint
    tables[i] = (shorter >> 8n) ^ (tables[Number(shorter & 0xffn)] as bigint)
  }
  return tables
}

const I32 = 0x7f
const I64 = 0x7e

// Locals of the function: its parameters, then two of I32 and two of I64.
const [STATE, LENGTH, AT, END, LOW, HIGH] = [0, 1, 2, 3, 4, 5]

const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const i32 = (value: number) => [0x41, ...signed(value)]
const i64 = (value: number) => [0x42, ...signed(value)]
const load64 = (offset: number) => [0x29, 3, ...unsigned(offset)]
const load8 = (offset: number) => [0x31, 0, ...unsigned(offset)]
const [ADD, AND, NOT_BELOW, WRAP, XOR, SHIFT_RIGHT, SHIFT_LEFT] = [0x6a, 0x71, 0x4f, 0xa7, 0x85, 0x88, 0x86]

/** The entry in a table for a byte of an I64 local. */
function lookUp(local: number, byte: number, table: number): number[] {
  // Entries have 8 bytes, so the byte is moved to bits 3 to 10.
  const shift = byte === 0 ? [...i64(3), SHIFT_LEFT] : [...i64(8 * byte - 3), SHIFT_RIGHT]
  return [...get(local), ...shift, WRAP, ...i32(0xff << 3), AND, ...load64(table * TABLE_BYTES)]
}

/** Repeats the body while AT is below END, and advances AT by `step` each time. */
function loop(body: number[], step: number): number[] {
  const test = [...get(AT), ...get(END), NOT_BELOW, 0x0d, 1]
  const advance = [...get(AT), ...i32(step), ADD, ...set(AT)]
  return [0x02, 0x40, 0x03, 0x40, ...test, ...body, ...advance, 0x0c, 0, 0x0b, 0x0b]
}

function assemble(): Uint8Array<ArrayBuffer> {
  const lookUps = [LOW, HIGH].flatMap((local, word) =>
    Array.from({ length: 8 }, (_, byte) => lookUp(local, byte, SLICES - 1 - 8 * word - byte)),
  )
  const sixteenBytes = [
    ...[...get(AT), ...load64(0), ...get(STATE), XOR, ...set(LOW)],
    ...[...get(AT), ...load64(8), ...set(HIGH)],
    ...lookUps.flatMap((one, i) => (i === 0 ? one : [...one, XOR])),
    ...set(STATE),
  ]
  const oneByte = [
    ...[...get(AT), ...load8(0), ...get(STATE), XOR, ...set(LOW)],
    ...[...lookUp(LOW, 0, 0), ...get(STATE), ...i64(8), SHIFT_RIGHT, XOR, ...set(STATE)],
  ]
  const code = [
    ...[2, 2, I32, 2, I64],
    ...[...i32(INPUT), ...set(AT), ...i32(INPUT), ...get(LENGTH), ...i32(-16), AND, ADD, ...set(END)],
    ...loop(sixteenBytes, 16),
    ...[...i32(INPUT), ...get(LENGTH), ADD, ...set(END)],
    ...loop(oneByte, 1),
    ...[...get(STATE), 0x0b],
  ]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 2, I64, I32, 1, I64]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, PAGES]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('update'), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ])
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

function name(text: string): number[] {
  return [text.length, ...Buffer.from(text)]
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >> 7)]
}

function signed(value: number): number[] {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)]
}
