import type { Delegation, DelegationSummary } from '@svc/api/agent/delegations'
import type { AgentClient } from '@svc/sdk'
import { GatewayError, isGatewayError, NoAnswer } from '@svc/sdk/errors'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shellWord } from '../output/shell-word.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import { readPins } from '../setup/pinned.ts'
import type { Key } from '../setup/wallet.ts'
import { delegationText, findingsText, listText } from './delegation-text.ts'

interface DelegationsOptions {
  end?: string
  log?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('delegations')
    .description('the delegations to the agent service, and its findings')
    .argument('[id]', 'dlg_…: show this delegation with its runs and findings; checks the signatures of its log')
    .option('--end <id>', 'end a delegation, and remove the key of the agent')
    .option('--log', 'print only the full log')
    .action(async (id: string | undefined, options: DelegationsOptions, command: Command) =>
      delegations(await open(command), id, options),
    )
}

async function delegations(session: Session, id: string | undefined, options: DelegationsOptions): Promise<void> {
  const { end, log: isLog = false } = options
  if (end !== undefined && (id !== undefined || isLog))
    throw new UsageError('--end cannot be combined with other arguments: --end ID')
  if (isLog && id === undefined)
    throw new UsageError('--log needs a delegation', 'give its id: `svc delegations ID --log`')
  requireDelegationId(end ?? id)
  const key = await session.keyFor(null)
  const client = await session.agentClient(key)
  if (end !== undefined) return finish(session, client, key, end)
  if (id === undefined) return list(session, client, key)
  const delegation = await client.delegation(id, session.host.signal)
  return isLog ? showLog(session, delegation) : show(session, delegation)
}

function requireDelegationId(text: string | undefined): void {
  if (text === undefined || /^dlg_[0-9a-f]{32}$/.test(text)) return
  throw new UsageError(`${JSON.stringify(text)} is not the id of a delegation`, '`svc delegations` lists them')
}

async function list({ output, host }: Session, client: AgentClient, key: Key): Promise<void> {
  const { subscription, delegations: all } = await client.delegations(host.signal)
  output.result({ subscription, delegations: all }, () => listText(key.address, subscription, all))
  if (all.length === 0) output.note('\nNone yet: `svc delegate LOCKER` makes one.')
}

async function show(session: Session, delegation: Delegation): Promise<void> {
  const { output, folder } = session
  const trust = (await readPins(folder, session.agent())) ? 'pinned' : 'the key that it showed first'
  output.result(delegation, () => delegationText(delegation, trust, output.style))
}

function showLog({ output }: Session, { log }: Delegation): void {
  if (output.isJson) for (const finding of log) output.result(finding, () => '')
  else if (log.length > 0) output.result(log, () => findingsText(log, output.style))
  output.note(`\n${counted(log.length, 'finding')}: every signature is valid, and none is missing.`)
}

async function finish(session: Session, client: AgentClient, key: Key, id: string): Promise<void> {
  const ended = await client.endDelegation(id, session.host.signal)
  const question = shown(
    `Remove the operator ${ended.agent_pubkey} of ${ended.locker_id}? It was registered by other means.`,
  )
  const key_removed =
    (ended.is_known_key || (await session.confirm(question))) && (await removeKey(session, key, ended))
  session.output.result({ ...ended, key_removed }, () => `${shown(id)} has ended`)
}

/** Ending a delegation also removes its key from the locker. */
async function removeKey(session: Session, key: Key, ended: DelegationSummary): Promise<boolean> {
  const { receipt_id, agent_pubkey } = ended
  const gateway = await session.client(key)
  try {
    await gateway.removeOperator(ended, agent_pubkey)
  } catch (error) {
    if (isGatewayError(error, 'OPERATOR_NOT_FOUND', 'locker_not_found')) return true
    if (!(error instanceof GatewayError || error instanceof NoAnswer)) throw error
    const command = `svc operators rm ${shellWord(agent_pubkey)} --locker ${shellWord(receipt_id)}`
    session.output.warn(shown(`its key may still act: ${error.message}. \`${command}\``))
    return false
  }
  return true
}
