import { EvmError, Reverted, toEvmError } from '@svc/chains/evm/errors'
import { MERKLE_REGISTRY_ABI } from '@svc/contracts/merkle-registry'
import { decodeErrorResult } from 'viem'

/** Why nothing was signed, or could be read. Only `unavailable` and `unfunded` are temporary. */
export class RegistryRefusal extends Error {
  override name = 'RegistryRefusal'
  readonly why: EvmError['why'] | 'not_a_registry' | Objection

  constructor(why: RegistryRefusal['why'], problem: string) {
    super(problem)
    this.why = why
  }
}

/** Why the contract refuses a transaction. */
export type Objection = 'not_owner' | 'older' | 'refused'

export function objectionOf({ data }: Reverted): Objection {
  const name = data === null ? null : errorNameIn(data)
  if (name === 'NotOwner') return 'not_owner'
  return name === 'OlderEntry' ? 'older' : 'refused'
}

export function rejectWriting(error: unknown): never {
  const meaning = toEvmError(error)
  if (meaning instanceof EvmError) throw new RegistryRefusal(meaning.why, meaning.message)
  const objection = objectionOf(meaning)
  throw new RegistryRefusal(objection, PROBLEMS[objection])
}

const PROBLEMS: Record<Objection, string> = {
  not_owner: 'the key is not that of the owner of the registry',
  older: 'the registry has a newer entry for this receipt',
  refused: 'the registry refuses the entry',
}

/** A registry answers every read; a contract that refuses one is no registry. */
export function rejectReading(error: unknown): never {
  const meaning = toEvmError(error)
  if (meaning instanceof Reverted)
    throw new RegistryRefusal('not_a_registry', 'no registry stands at the configured address')
  throw new RegistryRefusal(meaning.why, meaning.message)
}

function errorNameIn(data: `0x${string}`): string | null {
  try {
    return decodeErrorResult({ abi: MERKLE_REGISTRY_ABI, data }).errorName
  } catch {
    return null
  }
}
