import { MERKLE_REGISTRY_ABI } from '@svc/contracts/merkle-registry'
import { EvmError, Reverted, toEvmError } from '@svc/payments/evm/errors'
import { decodeErrorResult } from 'viem'

/** The registry could not be read, or the transaction was not signed. `unavailable` and `unfunded` are temporary. */
export class RegistryError extends Error {
  override name = 'RegistryError'
  readonly why: EvmError['why'] | 'not_a_registry' | Objection

  constructor(why: RegistryError['why'], problem: string) {
    super(problem)
    this.why = why
  }
}

/** Why the contract reverts. */
export type Objection = 'not_owner' | 'older' | 'refused'

export function objectionOf({ data }: Reverted): Objection {
  const name = data === null ? null : errorNameIn(data)
  if (name === 'NotOwner') return 'not_owner'
  return name === 'OlderEntry' ? 'older' : 'refused'
}

export function rejectWriting(error: unknown): never {
  const meaning = toEvmError(error)
  if (meaning instanceof EvmError) throw new RegistryError(meaning.why, meaning.message)
  const objection = objectionOf(meaning)
  throw new RegistryError(objection, PROBLEMS[objection])
}

const PROBLEMS: Record<Objection, string> = {
  not_owner: 'the key does not belong to the owner of the registry',
  older: 'the registry has a newer entry for this receipt',
  refused: 'the registry refuses the entry',
}

/** A registry answers every read, so a contract that reverts one is not a registry. */
export function rejectReading(error: unknown): never {
  const meaning = toEvmError(error)
  if (meaning instanceof Reverted)
    throw new RegistryError('not_a_registry', 'there is no registry at the configured address')
  throw new RegistryError(meaning.why, meaning.message)
}

function errorNameIn(data: `0x${string}`): string | null {
  try {
    return decodeErrorResult({ abi: MERKLE_REGISTRY_ABI, data }).errorName
  } catch {
    return null
  }
}
