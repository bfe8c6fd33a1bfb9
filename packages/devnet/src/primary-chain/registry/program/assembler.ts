// The few instructions of the chain's virtual machine (SBPF version 0) that the stand-in's programs use.

const OPCODES = {
  loadImmediate64: 0x18,
  loadByte: 0x71,
  loadWord64: 0x79,
  storeByteImmediate: 0x72,
  storeWord32Immediate: 0x62,
  storeWord64: 0x7b,
  add: 0x0f,
  jumpIfImmediate: 0x15,
  jumpUnlessImmediate: 0x55,
  jumpUnlessEqual: 0x5d,
  call: 0x85,
  exit: 0x95,
} as const

interface MachineInstruction {
  readonly opcode: number
  readonly target?: number
  readonly source?: number
  readonly offset?: number
  readonly immediate?: number
  /** The runtime function that a call is for. */
  readonly symbol?: string
}

export type Code = readonly MachineInstruction[]

const RESULT = 0
const [LEFT, RIGHT, POINTER] = [1, 2, 3]

export function storeBytes(address: bigint, bytes: Uint8Array): Code {
  const view = Buffer.from(bytes)
  const code = [...loadConstant(POINTER, address)]
  const inWords = bytes.length - (bytes.length % 4)
  for (let offset = 0; offset < inWords; offset += 4)
    code.push({
      opcode: OPCODES.storeWord32Immediate,
      target: POINTER,
      offset,
      immediate: view.readInt32LE(offset),
    })
  for (let offset = inWords; offset < bytes.length; offset++)
    code.push({ opcode: OPCODES.storeByteImmediate, target: POINTER, offset, immediate: view[offset]! })
  return code
}

/** Adds the 64-bit number at `from` to the one at `to`. */
export function addWord(to: bigint, from: bigint): Code {
  return [
    ...loadWord(LEFT, from),
    ...loadConstant(POINTER, to),
    { opcode: OPCODES.loadWord64, target: RIGHT, source: POINTER },
    { opcode: OPCODES.add, target: RIGHT, source: LEFT },
    { opcode: OPCODES.storeWord64, target: POINTER, source: RIGHT },
  ]
}

/** Calls a function of the runtime; `ifResultIs` tests its result. */
export function call(symbol: string, ...parameters: readonly bigint[]): Code {
  return [
    ...parameters.flatMap((value, index) => loadConstant(index + 1, value)),
    { opcode: OPCODES.call, immediate: -1, symbol },
  ]
}

export function exit(result: bigint): Code {
  return [...loadConstant(RESULT, result), { opcode: OPCODES.exit }]
}

export function ifResultIs(immediate: number, body: Code): Code {
  return [{ opcode: OPCODES.jumpUnlessImmediate, target: RESULT, immediate, offset: body.length }, ...body]
}

/** Runs `body` when `bytes`, a multiple of eight, are at `address`. */
export function ifBytes(address: bigint, bytes: Uint8Array, body: Code): Code {
  const view = Buffer.from(bytes)
  let code = body
  for (let offset = 0; offset < bytes.length; offset += 8)
    code = [
      ...loadWord(LEFT, address + BigInt(offset)),
      ...loadConstant(RIGHT, view.readBigUInt64LE(offset)),
      { opcode: OPCODES.jumpUnlessEqual, target: LEFT, source: RIGHT, offset: code.length },
      ...code,
    ]
  return code
}

/** Runs `body` when the byte at `address` is not 0. */
export function ifByte(address: bigint, body: Code): Code {
  return [
    ...loadConstant(POINTER, address),
    { opcode: OPCODES.loadByte, target: LEFT, source: POINTER },
    { opcode: OPCODES.jumpIfImmediate, target: LEFT, immediate: 0, offset: body.length },
    ...body,
  ]
}

export function encodeCode(code: Code): Uint8Array {
  const bytes = Buffer.alloc(code.length * 8)
  code.forEach(({ opcode, target = 0, source = 0, offset = 0, immediate = 0 }, index) => {
    bytes.writeUInt8(opcode, index * 8)
    bytes.writeUInt8(target | (source << 4), index * 8 + 1)
    bytes.writeInt16LE(offset, index * 8 + 2)
    bytes.writeInt32LE(immediate, index * 8 + 4)
  })
  return bytes
}

function loadWord(register: number, address: bigint): Code {
  return [...loadConstant(register, address), { opcode: OPCODES.loadWord64, target: register, source: register }]
}

/** A 64-bit constant takes two slots, the second with its upper half. */
function loadConstant(register: number, value: bigint): Code {
  const [low, high] = [BigInt.asIntN(32, value), BigInt.asIntN(32, value >> 32n)]
  return [
    { opcode: OPCODES.loadImmediate64, target: register, immediate: Number(low) },
    { opcode: 0, immediate: Number(high) },
  ]
}
