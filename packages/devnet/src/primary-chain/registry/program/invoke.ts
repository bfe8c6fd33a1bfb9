import { type Address, getAddressEncoder } from '@solana/kit'
import { type Code, call, storeBytes } from './assembler.ts'
import { FIELDS, HEAP, type ProgramAccount } from './memory.ts'

export interface Invocation {
  readonly program: Address
  readonly accounts: readonly InvokedAccount[]
  readonly data: Uint8Array
  /** Of the derived address that the program signs for. */
  readonly seeds?: readonly Uint8Array[]
}

interface InvokedAccount {
  readonly account: ProgramAccount
  readonly signer: boolean
  readonly writable: boolean
  /** When an earlier step of the same instruction has changed it. */
  readonly dataLength?: number
}

/** Calls another program with accounts of this instruction. Its arguments are laid out on the heap first. */
export function invoke({ program, accounts, data, seeds }: Invocation): Code {
  const heap = createImage()
  const instruction = heap.words(
    heap.bytes(getAddressEncoder().encode(program)),
    heap.words(
      ...accounts.flatMap(({ account, writable, signer }) => [
        account.at + FIELDS.address,
        BigInt(writable) | (BigInt(signer) << 8n),
      ]),
    ),
    BigInt(accounts.length),
    heap.bytes(data),
    BigInt(data.length),
  )
  const infos = heap.words(
    ...accounts.flatMap(({ account, dataLength = account.data.length }) => [
      account.at + FIELDS.address,
      account.at + FIELDS.lamports,
      BigInt(dataLength),
      account.at + FIELDS.data,
      account.at + FIELDS.owner,
      0n, // the epoch of its next rent: unused since every account is exempt
      BigInt(account.signer) | (BigInt(account.writable) << 8n),
    ]),
  )
  const signer = seeds
    ? heap.words(heap.words(...seeds.flatMap((seed) => [heap.bytes(seed), BigInt(seed.length)])), BigInt(seeds.length))
    : 0n
  const signerCount = seeds ? 1n : 0n
  return [
    ...storeBytes(HEAP, heap.image()),
    ...call('sol_invoke_signed_c', instruction, infos, BigInt(accounts.length), signer, signerCount),
  ]
}

/** Bytes for the heap, one part after the other; adding a part returns its address. */
function createImage() {
  const parts: Uint8Array[] = []
  let next = HEAP

  function bytes(part: ArrayLike<number>): bigint {
    const at = next
    const padded = new Uint8Array(Math.ceil(part.length / 8) * 8)
    padded.set(part)
    parts.push(padded)
    next += BigInt(padded.length)
    return at
  }

  return {
    bytes,
    words: (...values: bigint[]) => bytes(new Uint8Array(BigUint64Array.from(values).buffer)),
    image: () => Buffer.concat(parts),
  }
}
