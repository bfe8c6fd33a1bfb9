import type { DelegateAnswer } from '@svc/api/agent/delegations'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from '../errors.ts'
import { lockerArgument } from '../options.ts'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import type { Key } from '../setup/wallet.ts'
import { mirrorOption, type TaskOptions, tasksOf, tasksText } from './tasks.ts'

interface DelegateOptions extends TaskOptions {
  register: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('delegate')
    .description('delegate the locker to the agent service, or change its tasks there')
    .addArgument(lockerArgument())
    .addOption(mirrorOption())
    .addOption(new Option('--every <hours>', 'hours between two runs of a task; 24 by default').argParser(hourCount))
    .option('--no-watch', 'do not compare files and statements with the previous run')
    .option('--tell <url>', 'send findings to this https address, signed as in Standard Webhooks')
    .option('--no-register', 'do not register the key of the agent: `svc operators add` does it later')
    .addHelpText(
      'after',
      `
Needs a subscription of the wallet that owns the locker: \`svc subscribe\`. By default the
agent reads all files back once a day and compares them. Run the command again with other tasks
to replace the current ones; without tasks, nothing changes.`,
    )
    .action(async (locker: string | undefined, options: DelegateOptions, command: Command) =>
      delegate(await open(command), locker, options),
    )
}

function hourCount(text: string): number {
  const hours = Number(text)
  if (/^\d+$/.test(text) && hours >= 1 && hours <= 720) return hours
  throw new InvalidArgumentError('It must be a whole number from 1 to 720.')
}

async function delegate(session: Session, wanted: string | undefined, options: DelegateOptions): Promise<void> {
  const { output, host } = session
  const tasks = tasksOf(options)
  const locker = await session.locker(wanted)
  const key = await session.keyFor(locker.owner)
  const client = await session.agentClient(key)
  const delegated = await client.delegate(locker.receipt_id, tasks, host.signal)
  if (options.register) {
    await registerKey(session, key, locker, delegated)
    // The repeated call makes the agent check immediately whether its key is registered.
    await client.delegate(locker.receipt_id, undefined, host.signal)
  }
  output.result({ ...delegated, registered: options.register }, () => delegatedText(locker, delegated))
  output.note(options.register ? `\n${nextStep(delegated)}` : `\n${registrationHint(locker, delegated)}`)
}

/** Only the owner can do this. The request goes to the configured gateway, not to an address that the agent names. */
async function registerKey(session: Session, key: Key, locker: NamedLocker, delegated: DelegateAnswer): Promise<void> {
  const client = await session.client(key)
  await client.addOperator(locker, delegated.agent_pubkey).catch((error: Error) => {
    throw new Failure(
      `delegated, but the gateway does not accept the key of the agent: ${error.message}`,
      'run the same command again: it resumes this delegation',
    )
  })
}

function delegatedText({ name }: NamedLocker, delegated: DelegateAnswer): string {
  const { delegation_id, locker_id, agent_pubkey, tasks, expires_at, webhook_secret } = delegated
  return pairs([
    ['delegation', shown(delegation_id)],
    ['locker', name === null ? locker_id : `${locker_id} (${shown(name)})`],
    ['agent key', agent_pubkey],
    ['tasks', shown(tasksText(tasks))],
    ...(webhook_secret === undefined ? [] : [['secret', shown(webhook_secret)] as const]),
    ['until', timeText(shown(expires_at))],
  ])
}

function nextStep({ delegation_id }: DelegateAnswer): string {
  const id = shown(delegation_id)
  return `The agent may now read, write and list there, and starts automatically.\nNext: \`svc delegations ${id}\``
}

function registrationHint({ receipt_id }: NamedLocker, { agent_pubkey }: DelegateAnswer): string {
  return `It can do nothing until you register its key: \`svc operators add ${agent_pubkey} --locker ${receipt_id}\``
}
