import type { PushResult } from '@svc/api/attestations'
import { ROLES } from '@svc/api/networks'
import { type SingleFlight, singleFlight } from '@svc/concurrency/sharing'
import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import { createEvmRegistry, type EvmRegistry } from './evm-registry/client.ts'
import { openPrimaryChain, type PrimaryChain } from './primary-chain.ts'

interface PublicationState {
  /** Null if nothing is published on the primary chain. */
  primaryChain: PrimaryChain | null
  /** Null if no registry on the EVM chain is configured. */
  evmRegistry: EvmRegistry | null
  /** The pushes in progress, by receipt and sequence. */
  pushes: SingleFlight<PushResult | 'superseded'>
}

declare module '../context.ts' {
  interface Context extends PublicationState {}
}

type AnchorSecrets = Pick<Secrets, 'rpcUrls' | 'evmRegistryKey'>

export function openPublication(context: Context, secrets: AnchorSecrets): PublicationState {
  const { config, signers } = context
  const primaryChain = openPrimaryChain(config.anchors, signers.publication, {
    rpcUrls: secrets.rpcUrls.get(ROLES.publication) ?? [],
    quorum: config.payments.chains.get(ROLES.publication)?.quorum ?? 1,
  })
  return { primaryChain, evmRegistry: openEvmRegistry(context, secrets), pushes: singleFlight() }
}

function openEvmRegistry({ config }: Context, { rpcUrls, evmRegistryKey }: AnchorSecrets): EvmRegistry | null {
  if (!config.evmRegistry || !evmRegistryKey) return null
  const nodes = rpcUrls.get(ROLES.registry) ?? []
  return createEvmRegistry({ rpcUrls: nodes, privateKey: evmRegistryKey, contract: config.evmRegistry.contract })
}
