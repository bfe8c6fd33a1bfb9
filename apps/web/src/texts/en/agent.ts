// The agent page.

import type { DelegationStatus, FindingKind, Run, TaskName } from '@svc/api/agent/delegations'
import { common } from './common.ts'

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' })

const statuses: Record<DelegationStatus, string> = {
  pending: 'Key not registered',
  active: 'At work',
  paused: 'Paused: no subscription',
  revoked: 'Key removed',
  ended: 'Ended',
}

const kinds: Record<FindingKind, string> = {
  baseline: 'First look at the locker',
  file_new: 'New file',
  file_changed: 'File changed',
  file_gone: 'File gone',
  statement_new: 'New statement, linked to the previous one',
  mirror_changed: 'A mirrored address has changed',
  bytes_differ: 'The bytes of a file do not match its recorded hash',
  bytes_missing: 'The bytes of a file are missing',
  statement_untrue: 'A statement is false, or not signed by the gateway',
  statement_lost: 'A statement is gone',
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
    text: 'The operator does not run one. Your lockers work without it; you can check them yourself on the verify page or with the command line.',
  },
  down: {
    title: 'The agent service does not answer',
    text: 'Nothing is lost: its work continues when it is back. Your lockers do not depend on it. To revoke its access right now, remove its key under “People” on the page of the locker.',
  },
  index: {
    title: 'The gateway does not answer',
    text: 'Without it, this page does not know where the agent service is.',
  },
  foreign: {
    title: 'This agent service works for another gateway',
    text: (gateway: string) =>
      `It says that it works for ${gateway}. This page does not hand over lockers of this gateway to it.`,
  },

  what: {
    title: 'What it does',
    watch: ['Watch', 'Compares files and statements with what it saw before, reads the bytes back and hashes them.'],
    mirror: ['Mirror', 'Has the gateway fetch addresses that you list into the locker at regular intervals.'],
    tell: ['Tell', 'Sends what it finds to an address of yours, signed.'],
    price: (price: string, days: number) =>
      `${price} for ${days} days, for all your lockers. It never renews automatically.`,
    rights: 'What you hand over',
    may: 'It can list, read and write the files of a locker that you delegate, like any operator.',
    mayNot: 'It cannot add or remove people, attest, delete the locker, or spend your money.',
    take: 'You can take that back at any time, without its consent.',
  },

  connect: {
    title: 'Connect the wallet that owns your lockers',
    text: 'It signs one request to see your subscription and what you have delegated. The agent service sees its address.',
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
    noLeg: 'The service accepts no payment that this wallet can make. Connect a wallet on the other chain.',
    fee: (fee: string) => `+ up to ${fee} network fee`,
    feeUnknown: 'network fee currently unknown',
    pay: (amount: string, asset: string) => `Pay ${amount} ${asset}`,
    owner: 'The subscription belongs to the wallet that pays.',
    doing: {
      wallet: 'Check your wallet: it is asking you to pay.',
      sending: 'Sent. Waiting for it to appear on the chain…',
      confirming: 'Paid. Waiting for the service to confirm…',
      looking: 'Your wallet was asked to pay, but its answer did not arrive. Looking for the payment on the chain…',
      other_tab: 'Another tab is working on this payment…',
      checking: 'One moment…',
    },
    safe: 'You may close the page: the payment is recorded in this browser and is never made twice.',
    begun: {
      title: 'A payment was started',
      text: 'This browser recorded a payment whose outcome is uncertain. Nothing else is paid until that is settled.',
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
    awaited: 'Key registered',
    awaitedText: 'The service notices its key within seconds and then starts. Refresh to see it.',
    registered: 'The key is registered',
    revokedText: 'The gateway no longer accepts its key. Delegate the locker again to continue.',
    end: 'End',
    endTitle: 'End this delegation?',
    endText:
      'Its key is removed from the locker, and the service is told to stop. Its log stays. Your wallet is asked to sign twice.',
    ended: 'Ended. Its key has been removed from the locker.',
    endedHalf:
      'Its key has been removed from the locker, so it can do nothing more there. The service itself did not answer; end it again later.',
  },

  delegate: {
    title: 'Delegate a locker',
    load: 'Show my lockers',
    loadText: 'The gateway lists the lockers that this wallet owns. Your wallet is asked to sign.',
    noLockers: 'This wallet owns no open locker at this gateway.',
    buy: 'Buy a locker',
    locker: 'Locker',
    isDelegated: 'Already delegated: this changes what it does there.',
    watch: 'Watch the files and statements',
    every: 'How often',
    hours: (hours: number) =>
      hours === 1 ? 'every hour' : hours === 24 ? 'every day' : hours === 168 ? 'every week' : `every ${hours} hours`,
    bytes: 'Read the bytes back and hash them, instead of only comparing records',
    mirror: 'Mirror addresses into the locker',
    mirrorUrl: 'Address, https',
    mirrorName: 'File in the locker',
    mirrorAdd: 'Add an address',
    mirrorRemove: 'Remove this address',
    tell: 'Send findings to an address of mine',
    tellUrl: 'Address, https',
    tellHint:
      'It receives a POST for each finding, signed as in Standard Webhooks. The secret is shown with the delegation.',
    onlyAlerts: 'Only alerts',
    notHttps: 'The address must begin with https://',
    noName: 'Give the file a name',
    twice: 'Each file can have only one address',
    nothing: 'Choose at least one thing for it to do.',
    summary: 'You hand over',
    rights: (locker: string) =>
      `Listing, reading and writing files of ${locker}, with a key made for this locker alone.`,
    doesWatch: (often: string, isBytes: boolean) =>
      `It checks ${often}${isBytes ? ' and reads all bytes' : ', records only'}.`,
    doesMirror: (count: number, often: string) =>
      `It fetches ${common.counted(count, 'address', 'addresses')} ${often} and overwrites those files when they change.`,
    doesTell: (host: string, isAlerts: boolean) =>
      `It sends ${isAlerts ? 'alerts' : 'all findings'}, with names of files, to ${host}.`,
    not: 'Nothing else: it cannot manage people, attest, or spend.',
    steps: 'Two signatures: one for the service, one for the gateway to accept its key.',
    submit: 'Delegate',
    change: 'Change',
    done: 'Delegated. Its key is registered with the gateway.',
    half: 'The service has accepted the locker, but its key is not registered yet, so it can do nothing. Register it below.',
  },

  detail: {
    checked: (count: number) => `${entries(count)}, checked in this browser`,
    checkedText:
      'Each entry is signed by the key below and names the previous one. None is missing or has changed since you last looked.',
    key: 'Signed by',
    keyName: 'key of the service',
    empty: 'Nothing found yet. The first run records what is there.',
    untrue: 'This log cannot be trusted',
    untrueText: (reason: string) =>
      `Its signatures are not valid, so none of it is shown: ${reason}. Keep this message, and ask the operator of the service.`,
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
    runsText: 'What the service says about its work. Runs are not signed; findings are.',
    noRuns: 'It has not run yet.',
    tasks,
    outcomes,
    told: (delivered: number, undelivered: number) => `${delivered} delivered, ${undelivered} not delivered`,
    secret: 'Webhook secret',
    showSecret: 'Show the secret',
    sends: (url: string) => `Findings are sent to ${url}`,
  },

  problems: {
    noAnswer: [
      'The agent service does not answer',
      'Try again in a moment. This page shows everything that was changed.',
    ],
    notSubscribed: ['There is no subscription', 'Subscribe above, then delegate the locker.'],
    limit: ['Too many delegations', 'End one that you no longer need, or try again tomorrow.'],
    gateway: ['The agent service cannot reach the gateway', 'Try again in a moment.'],
    stranger: [
      'The agent service does not accept the signature',
      'Connect the wallet that paid for the locker and the subscription.',
    ],
    storage: [
      'This browser does not let the page store anything',
      'A payment must be recorded before it is made. Leave private browsing or allow storage, then try again.',
    ],
  },
}
