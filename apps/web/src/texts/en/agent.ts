// The agent page.

import type { DelegationStatus, FindingKind, Run, TaskName } from '@svc/api/agent/delegations'
import { common } from './common.ts'

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' })

const statuses: Record<DelegationStatus, string> = {
  pending: 'Key not registered',
  active: 'Active',
  paused: 'Paused: no subscription',
  revoked: 'Key removed',
  ended: 'Ended',
}

const kinds: Record<FindingKind, string> = {
  baseline: 'First check of the locker',
  file_new: 'New file',
  file_changed: 'File changed',
  file_gone: 'File missing',
  statement_new: 'New statement, linked to the previous one',
  mirror_changed: 'A mirrored address has changed',
  bytes_differ: 'The content of a file does not match its recorded hash',
  bytes_missing: 'The content of a file is missing',
  statement_untrue: 'A statement is false, or not signed by the gateway',
  statement_lost: 'A statement is missing',
  statement_rewritten: 'A statement was rewritten',
  mirror_failed: 'A mirrored address cannot be fetched',
}

const details: Readonly<Record<string, string>> = {
  filename: 'File',
  url: 'Address',
  reason: 'Reason',
  before: 'Before',
  after: 'After',
  sha256: 'SHA-256',
  actual: 'Found instead',
  size_bytes: 'Bytes',
  total_bytes: 'Total bytes',
  files: 'Files',
  sequence: 'Statement',
  digest: 'Digest',
  statement: 'Newest statement',
  last_seen: 'Last seen',
  newest: 'Newest now',
  more: 'More like this',
}

const tasks: Record<TaskName, string> = { watch: 'Watch', mirror: 'Mirror', tell: 'Tell' }
const outcomes: Record<Run['outcome'], string> = {
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
}

const entries = (count: number) => common.counted(count, 'entry', 'entries')

export const texts = {
  title: 'Agent service',
  lead: 'A service that looks after your lockers: it checks the files every day, keeps copies of web addresses in them, and tells you when something is wrong.',
  time: (iso: string) => (Number.isNaN(Date.parse(iso)) ? '–' : DATE.format(new Date(iso))),
  day: (iso: string) => (Number.isNaN(Date.parse(iso)) ? '–' : DAY.format(new Date(iso))),

  none: {
    title: 'This gateway has no agent service',
    text: 'Your lockers work without it; you can check them yourself on the verify page or with the command line.',
  },
  down: {
    title: 'The agent service does not answer',
    text: 'Nothing is lost: its work continues when it is available again. Your lockers do not depend on it. To revoke its access now, remove its key under “People” on the locker page.',
  },
  index: {
    title: 'The gateway does not answer',
    text: 'This page needs the gateway to find the agent service. Try again in a minute.',
  },
  foreign: {
    title: 'This agent service works for another gateway',
    text: (gateway: string) =>
      `It reports that it works for ${gateway}. This page does not delegate lockers of this gateway to it.`,
  },

  what: {
    title: 'What it does',
    watch: ['Watch', 'Compares files and statements with the previous run, reads the files back and hashes them.'],
    mirror: ['Mirror', 'Has the gateway fetch addresses that you list into the locker at regular intervals.'],
    tell: ['Tell', 'Sends its findings, signed, to an address that you choose.'],
    price: (price: string, days: number) =>
      `${price} for ${days} days, for all your lockers. It never renews automatically.`,
    rights: 'What you delegate',
    may: 'It can list, read and write the files of a locker that you delegate, like any operator.',
    mayNot: 'It cannot add or remove people, attest, delete the locker, or spend your money.',
    take: 'You can revoke this at any time, without its consent.',
  },

  connect: {
    title: 'Connect the wallet that owns your lockers',
    text: 'It signs one request to show your subscription and your delegations. The agent service sees its address.',
  },
  connected: 'Connected as',
  disconnect: 'Disconnect',
  waiting: 'Waiting for the wallet and the service…',
  refresh: 'Refresh',

  subscription: {
    title: 'Subscription',
    active: 'Active',
    expired: 'Expired',
    none: 'None',
    until: (day: string) => `Until ${day}.`,
    since: (day: string) =>
      `It ended on ${day}. Delegated lockers are paused; their logs stay, and work continues once you subscribe again.`,
    noneText: 'You have no subscription. Without one, the service does no work.',
    subscribe: 'Subscribe',
    extend: 'Add 30 days',
    another: 'Get a new price',
    legs: 'Pay with',
    noLeg: 'The service accepts no payment that this wallet can make. Connect a wallet for another chain.',
    fee: (fee: string) => `+ up to ${fee} network fee`,
    feeUnknown: 'network fee currently unknown',
    pay: (amount: string, asset: string) => `Pay ${amount} ${asset}`,
    owner: 'The subscription belongs to the wallet that pays.',
    doing: {
      wallet: 'Check your wallet: it asks you to pay.',
      sending: 'Sent. Waiting for it to appear on the chain…',
      confirming: 'Paid. Waiting for the service to confirm…',
      looking: 'Your wallet was asked to pay, but its answer did not arrive. Looking for the payment on the chain…',
      other_tab: 'Another tab is working on this payment…',
      checking: 'One moment…',
    },
    safe: 'You can close the page: the payment is recorded in this browser and is never made twice.',
    started: {
      title: 'A payment was started',
      text: 'This browser recorded a payment whose outcome is unknown. Nothing else is paid until it is known.',
      look: 'Check its status',
      voided: 'That payment was not made. You can pay now.',
    },
    done: (day: string) => `Thank you. Your subscription runs until ${day}.`,
    paidElsewhere: 'Another tab has handled this payment. Check the subscription above before you pay again.',
  },

  delegations: {
    title: 'Delegated lockers',
    none: 'No locker is delegated yet.',
    statuses,
    since: (time: string) => `Delegated ${time}`,
    found: (count: number, alerts: number) =>
      count === 0 ? 'no findings yet' : `${entries(count)} in its log, ${common.counted(alerts, 'alert')}`,
    next: (task: TaskName, time: string) => `${tasks[task] ?? task}: next ${time}`,
    open: 'Show findings',
    close: 'Hide findings',
    register: 'Register its key',
    registerText: 'The service cannot do anything yet: its key is not registered with the gateway.',
    starting: 'Key registered',
    startingText: 'The service detects its key within seconds and then starts. Refresh to see it.',
    registered: 'The key is registered',
    revokedText: 'The gateway no longer accepts its key. To continue, delegate the locker again.',
    end: 'End',
    endTitle: 'End this delegation?',
    endText:
      'This removes its key from the locker and stops the service there. Its log stays. Your wallet asks you to sign twice.',
    ended: 'Ended. Its key was removed from the locker.',
    endedHalf:
      'Its key was removed from the locker, so it can do nothing more there. The service did not answer; end the delegation again later.',
  },

  delegate: {
    title: 'Delegate a locker',
    load: 'Show my lockers',
    loadText: 'The gateway lists the lockers that this wallet owns. Your wallet asks you to sign.',
    noLockers: 'This wallet owns no open locker on this gateway.',
    buy: 'Buy a locker',
    locker: 'Locker',
    isDelegated: 'Already delegated: this changes what the service does there.',
    watch: 'Watch the files and statements',
    every: 'How often',
    hours: (hours: number) =>
      hours === 1 ? 'every hour' : hours === 24 ? 'every day' : hours === 168 ? 'every week' : `every ${hours} hours`,
    bytes: 'Read the files back and hash them, instead of only comparing records',
    mirror: 'Mirror addresses into the locker',
    mirrorUrl: 'Address, https',
    mirrorName: 'File in the locker',
    mirrorAdd: 'Add an address',
    mirrorRemove: 'Remove this address',
    tell: 'Send findings to an address',
    tellUrl: 'Address, https',
    tellHint:
      'It receives a POST for each finding, signed according to Standard Webhooks. The secret is shown with the delegation.',
    onlyAlerts: 'Only alerts',
    notHttps: 'The address must begin with https://',
    noName: 'Give the file a name',
    twice: 'Each file can have only one address',
    nothing: 'Choose at least one task.',
    summary: 'You delegate',
    rights: (locker: string) =>
      `Listing, reading and writing files of ${locker}, with a key made for this locker alone.`,
    doesWatch: (often: string, isBytes: boolean) =>
      `It checks ${often}${isBytes ? ' and reads all files' : ', records only'}.`,
    doesMirror: (count: number, often: string) =>
      `It fetches ${common.counted(count, 'address', 'addresses')} ${often} and overwrites those files when they change.`,
    doesTell: (host: string, isAlerts: boolean) =>
      `It sends ${isAlerts ? 'alerts' : 'all findings'}, with file names, to ${host}.`,
    not: 'Nothing else: it cannot manage people, attest, or spend money.',
    steps: 'Your wallet signs twice: once for the service, once for the gateway to accept its key.',
    submit: 'Delegate',
    change: 'Change',
    done: 'Delegated. Its key is registered with the gateway.',
    half: 'The service has accepted the locker, but its key is not registered yet, so it can do nothing. Register it below.',
  },

  detail: {
    checked: (count: number) => `${entries(count)}, checked in this browser`,
    checkedText:
      'Each entry is signed by the key below and names the previous one. None is missing or has changed since your last visit.',
    key: 'Signed by',
    keyName: 'key of the service',
    empty: 'No findings yet. The first run records the files that are there.',
    untrue: 'This log cannot be trusted',
    untrueText: (reason: string) =>
      `It is not shown, because the check failed: ${reason}. Keep this message, and contact the admin of the service.`,
    findings: 'Findings',
    severities: { info: 'Info', alert: 'Alert' },
    kinds,
    details,
    more: (count: number) => `Show ${count} more`,
    mirrors: 'Mirrors',
    mirrorStates: {
      ok: 'Fetched',
      waiting: 'Not fetched yet',
      failing: 'Cannot be fetched',
      unknown: 'Possibly failing',
    },
    runs: 'Latest runs',
    runsText: 'The service’s own report on its work. Runs are not signed; findings are.',
    noRuns: 'The service has not run yet.',
    tasks,
    outcomes,
    deliveries: (delivered: number, undelivered: number) => `${delivered} delivered, ${undelivered} not delivered`,
    secret: 'Webhook secret',
    showSecret: 'Show the secret',
    sends: (url: string) => `Findings are sent to ${url}`,
  },

  problems: {
    noAnswer: [
      'The agent service does not answer',
      'Try again in a moment. This page shows all changes that were made.',
    ],
    notSubscribed: ['You have no subscription', 'Subscribe above, then delegate the locker.'],
    limit: ['Too many delegations', 'End one that you no longer need, or try again tomorrow.'],
    gateway: ['The agent service cannot reach the gateway', 'Try again in a moment.'],
    badSignature: [
      'The agent service does not accept the signature',
      'Connect the wallet that paid for the locker and the subscription.',
    ],
    storage: [
      'This browser does not let the page store data',
      'A payment must be recorded before it is made. Leave private browsing or allow storage, then try again.',
    ],
  },
}
