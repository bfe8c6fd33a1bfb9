import { join } from 'node:path'
import { EXIT } from '../errors.ts'
import { TAMPERED, tamper } from './fixtures.ts'

export interface Step {
  title: string
  args: string[]
  /** The command line to show. */
  command: string
  /** The expected exit code, if not 0. */
  exit?: number
  before?: () => Promise<void>
}

export interface DemoSetup {
  /** Holds the files and receives the bundle. */
  folder: string
  asset: string
  /** A node of the chain that statements are published on. */
  rpc: string
}

const OFFLINE = 'files_match,signature_valid,key_pinned'
const ONLINE = `${OFFLINE},anchor_tx_succeeded,anchor_signer_matches,anchor_payload_matches`

export function steps({ folder, asset, rpc }: DemoSetup): Step[] {
  const files = join(folder, 'files')
  const bundle = join(folder, 'bundle.json')
  const verify = ['verify', bundle, '--dir', files, '--require']

  const step = (title: string, args: string[], rest: Omit<Step, 'title' | 'args' | 'command'> = {}): Step => {
    const command = `svc ${args.filter((arg) => arg !== '--yes').join(' ')}`.replaceAll(`${folder}/`, '')
    return { title, args, command, ...rest }
  }
  return [
    step("Pin the gateway's keys, which check all later signatures", ['keys', 'pin']),
    step('Ask for the price of storage', ['quote']),
    step('Pay on chain, get a signed receipt, and open its locker', [
      'buy',
      '--asset',
      asset,
      '--name',
      'demo',
      '--yes',
    ]),
    step('Put a folder into the locker', ['put', files]),
    step('List the files', ['ls']),
    step('Have the gateway sign a statement of the files', ['attest']),
    step('Publish the statement on chain', ['push']),
    step('Download the evidence', ['bundle', '-o', bundle]),
    step('Verify it offline: bundle, signature and files, without a single request', [...verify, OFFLINE]),
    step('Verify online: check the transaction that published it', [...verify, ONLINE, '--rpc', rpc]),
    step(
      `Change one character of ${TAMPERED}, and verify again: it must fail and name the file`,
      [...verify, OFFLINE],
      {
        exit: EXIT.unverified,
        before: () => tamper(files),
      },
    ),
  ]
}
