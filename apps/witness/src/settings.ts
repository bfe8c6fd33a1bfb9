// Every setting of the witness. `npm run docs` generates `.env.example` from this table.

import { HTTP_SETTINGS, LOG_SETTINGS, type Settings } from '@svc/service/program/config'

export const SETTINGS: Settings = {
  ...HTTP_SETTINGS,
  BASE_URL: {
    group: 'should look at',
    help: 'Public address of this witness for logs and verifiers; empty for http://localhost and the port',
  },
  PORT: { ...HTTP_SETTINGS.PORT, default: '8404' },
  DATA_DIR: {
    group: 'should look at',
    default: './data/witness',
    help: 'Folder of the database, the key and the list of logs. Never restore an older copy of the database: see README.md',
  },
  WITNESS_NAME: {
    group: 'should look at',
    help: 'Name in the key and in every cosignature, which must never change; empty for host and path of BASE_URL',
  },
  WITNESS_LOGS_FILE: {
    group: 'should look at',
    help: 'File with the witnessed logs: lines `log <key> [address]` as in a policy, read again when the file changes; empty for logs.txt in DATA_DIR',
  },
  WITNESS_KEY: {
    group: 'should look at',
    isSecret: true,
    help: 'Key that cosigns: 64 hex characters; when empty, a key is created at the first start and stored in witness.key in DATA_DIR',
  },
  MONITOR_RPC_URL: {
    group: 'should look at',
    help: "Node of the chain of the anchors; empty to trust the gateway's claims about them",
  },
  MONITOR_WEBHOOK_URL: {
    group: 'should look at',
    help: 'Address that receives each alarm as JSON; empty for none',
  },
  MONITOR_SECONDS: {
    group: 'tuning',
    default: '60',
    help: 'Seconds between two rounds over the logs that have an address; 0 disables the monitor',
  },
  MONITOR_TOLERANCE_SECONDS: {
    group: 'tuning',
    default: '600',
    help: 'Tolerated difference in seconds between clocks, and between a statement and its log entry',
  },
  MONITOR_ANCHOR_SECONDS: {
    group: 'tuning',
    default: '10800',
    help: 'Deadline in seconds for publishing a statement, or a checkpoint that covers it, on chain; 0 for none',
  },
  MONITOR_UNREACHABLE_SECONDS: {
    group: 'tuning',
    default: '1800',
    help: 'How many seconds a log may be unreadable before an alarm is raised',
  },
  ...LOG_SETTINGS,
}
