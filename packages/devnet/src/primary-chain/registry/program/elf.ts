import { type Code, encodeCode } from './assembler.ts'

const HEADER_BYTES = 64
const SECTION_HEADER_BYTES = 64
const SECTION_TYPES = { code: 1, strings: 3, dynamic: 6, relocations: 9, symbols: 11 } as const
const ALLOCATED_AND_EXECUTABLE = 6
const SHARED_OBJECT = 3
const MACHINE_BPF = 247
const RELOCATE_CALL = 10n
const DYNAMIC_TAGS = { symbols: 6n, relocations: 17n, relocationsSize: 18n, relocationSize: 19n, end: 0n } as const

/**
 * The smallest ELF file that the chain's loader accepts: the code, and for each call a relocation to its symbol. There
 * must be at least one call, because the loader rejects an empty table.
 */
export function elfOf(code: Code): Uint8Array {
  const calls = code.flatMap(({ symbol }, index) => (symbol === undefined ? [] : [{ symbol, index }]))
  const symbols = [...new Set(calls.map(({ symbol }) => symbol))]
  const names = stringTable(symbols)
  const sections = createSections()

  const text = sections.add('.text', SECTION_TYPES.code, encodeCode(code), ALLOCATED_AND_EXECUTABLE)
  sections.add('.dynstr', SECTION_TYPES.strings, names.bytes)
  const symbolTable = sections.add('.dynsym', SECTION_TYPES.symbols, symbolTableOf(names.offsets))
  const relocations = words(
    calls.flatMap(({ symbol, index }) => [
      text + BigInt(index * 8),
      (BigInt(symbols.indexOf(symbol) + 1) << 32n) | RELOCATE_CALL,
    ]),
  )
  const relocationTable = sections.add('.rel.dyn', SECTION_TYPES.relocations, relocations)
  const dynamic = [
    [DYNAMIC_TAGS.symbols, symbolTable],
    [DYNAMIC_TAGS.relocations, relocationTable],
    [DYNAMIC_TAGS.relocationsSize, BigInt(relocations.length)],
    [DYNAMIC_TAGS.relocationSize, 16n],
    [DYNAMIC_TAGS.end, 0n],
  ]
  sections.add('.dynamic', SECTION_TYPES.dynamic, words(dynamic.flat()))
  return sections.file(text)
}

function createSections() {
  const sections: { name: string; type: number; flags: number; at: number; bytes: Uint8Array }[] = []
  let end = HEADER_BYTES

  function add(name: string, type: number, bytes: Uint8Array, flags = 0): bigint {
    const at = end
    sections.push({ name, type, flags, at, bytes })
    end = alignTo8(at + bytes.length)
    return BigInt(at)
  }

  function file(entry: bigint): Uint8Array {
    const names = stringTable([...sections.map(({ name }) => name), '.shstrtab'])
    add('.shstrtab', SECTION_TYPES.strings, names.bytes)
    const bytes = Buffer.alloc(end + (sections.length + 1) * SECTION_HEADER_BYTES)
    writeHeader(bytes, entry, end, sections.length + 1)
    sections.forEach((section, index) => {
      bytes.set(section.bytes, section.at)
      const header = end + (index + 1) * SECTION_HEADER_BYTES
      bytes.writeUInt32LE(names.offsets[index]!, header)
      bytes.writeUInt32LE(section.type, header + 4)
      bytes.writeUInt32LE(section.flags, header + 8)
      bytes.writeUInt32LE(section.at, header + 16)
      bytes.writeUInt32LE(section.at, header + 24)
      bytes.writeUInt32LE(section.bytes.length, header + 32)
      bytes.writeUInt32LE(1, header + 48)
    })
    return new Uint8Array(bytes)
  }

  return { add, file }
}

function writeHeader(bytes: Buffer, entry: bigint, sectionHeadersAt: number, sectionCount: number) {
  bytes.write('\x7fELF\x02\x01\x01', 'latin1') // 64 bits, little-endian, version 1
  bytes.writeUInt16LE(SHARED_OBJECT, 16)
  bytes.writeUInt16LE(MACHINE_BPF, 18)
  bytes.writeUInt32LE(1, 20)
  bytes.writeBigUInt64LE(entry, 24)
  bytes.writeUInt32LE(sectionHeadersAt, 40)
  bytes.writeUInt16LE(HEADER_BYTES, 52)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(SECTION_HEADER_BYTES, 58)
  bytes.writeUInt16LE(sectionCount, 60)
  bytes.writeUInt16LE(sectionCount - 1, 62)
}

/** Undefined symbols by name, after the empty one that starts every table. */
function symbolTableOf(nameOffsets: readonly number[]): Uint8Array {
  const GLOBAL = 0x10n
  return words([0n, 0n, 0n, ...nameOffsets.flatMap((name) => [BigInt(name) | (GLOBAL << 32n), 0n, 0n])])
}

function stringTable(texts: readonly string[]) {
  const offsets: number[] = []
  let joined = '\0'
  for (const text of texts) {
    offsets.push(joined.length)
    joined += `${text}\0`
  }
  return { bytes: Buffer.from(joined, 'latin1'), offsets }
}

function words(values: readonly bigint[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(values).buffer)
}

function alignTo8(length: number): number {
  return Math.ceil(length / 8) * 8
}
