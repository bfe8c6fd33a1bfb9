import { MERKLE_REGISTRY_ABI } from '@svc/contracts/merkle-registry'
import { decodeErrorResult } from 'viem'
import { EvmTrouble, meaningOf, Reverted } from '../../evm/trouble.ts'

/** Why nothing was signed, or could be learned. Only `unavailable` and `unfunded` pass by themselves. */
export class RegistryRefusal extends Error {
  override name = 'RegistryRefusal'
  readonly why: EvmTrouble['why'] | 'not_a_registry' | Objection

  constructor(why: RegistryRefusal['why'], problem: string) {
    super(problem)
    this.why = why
  }
}

/** What the contract has against a transaction. */
export type Objection = 'not_owner' | 'older' | 'refused'

export function objectionOf({ data }: Reverted): Objection {
  const name = data === null ? null : errorNameIn(data)
  if (name === 'NotOwner') return 'not_owner'
  return name === 'OlderEntry' ? 'older' : 'refused'
}

export function rejectWriting(error: unknown): never {
  const meaning = meaningOf(error)
  if (meaning instanceof EvmTrouble) throw new RegistryRefusal(meaning.why, meaning.message)
  const objection = objectionOf(meaning)
  throw new RegistryRefusal(objection, PROBLEMS[objection])
}

const PROBLEMS: Record<Objection, string> = {
  not_owner: 'the key is not that of the owner of the registry',
  older: 'the registry has a newer entry for this receipt',
  refused: 'the registry refuses the entry',
}

/** Everything that a registry is asked it answers; what says no is something else. */
export function rejectReading(error: unknown): never {
  const meaning = meaningOf(error)
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
