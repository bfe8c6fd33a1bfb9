import { clockDifference } from '@svc/service/guard/clock-guard'
import { ServiceError } from '@svc/service/service-error'

const WAIT = "the gateway's /health reports it to its admin; try again later"

export function databaseBehind(): ServiceError {
  return new ServiceError('database_behind', 'the database is older than what this gateway has signed', {
    hint: `nothing was changed, and everything can be read; ${WAIT}`,
    headers: { 'retry-after': '60' },
  })
}

export function journalsMissing(): ServiceError {
  return new ServiceError(
    'database_behind',
    'the database has not been compared with what other replicas have signed',
    {
      hint: `nothing was changed, and everything can be read; ${WAIT}`,
      headers: { 'retry-after': '5' },
    },
  )
}

export function databaseUnchecked(): ServiceError {
  return new ServiceError('database_behind', 'the gateway is comparing its database with what it has signed', {
    hint: 'nothing was changed, and everything can be read; try again in a few seconds',
    headers: { 'retry-after': '2' },
  })
}

export function commitUnchecked(): ServiceError {
  return new ServiceError('database_behind', 'another database server answered before this was in the journal', {
    hint: 'try again in a few seconds: repeating the request finds what is already done',
    headers: { 'retry-after': '2' },
  })
}

export function envelopeBeforeLoss(seconds: number): ServiceError {
  return new ServiceError('database_behind', 'the database changed, and this envelope may have been used before', {
    hint: `nothing was changed; sign the request again in ${seconds} s`,
    headers: { 'retry-after': `${seconds}` },
  })
}

export function clocksDiffer(aheadSeconds: number): ServiceError {
  return new ServiceError('database_behind', `the clock of this gateway is ${clockDifference(aheadSeconds)}`, {
    hint: 'nothing was changed, and public data can be read; send the request again: another replica may answer',
    headers: { 'retry-after': '10' },
  })
}

export function logbookUnavailable(cause?: unknown): ServiceError {
  return new ServiceError('logbook_unavailable', 'the gateway cannot write its journal', {
    hint: 'try again later: repeating the request finds what is already done',
    headers: { 'retry-after': '10' },
    cause,
  })
}
