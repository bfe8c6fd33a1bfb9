// Sharing a file or a folder of a locker, and the list of everything that opens the locker.

import { common } from './common.ts'

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

export const texts = {
  share: {
    title: { file: 'Share a file', folder: 'Share a folder' },
    folder: 'Share this folder',
    expires: 'The share works for',
    hours: (hours: number | null) => {
      if (hours === null) return 'until you end it'
      return hours < 24 ? common.counted(hours, 'hour') : common.counted(hours / 24, 'day')
    },
    opens: {
      file: 'Anyone with the address can open this file, and nothing else in the locker. If the file is replaced, they see the new one.',
      folder:
        'Anyone with the address can open every file in this folder, including files that you add later, and nothing else in the locker.',
    },
    byKey: 'It ends earlier if the key that creates it loses its access, and you can end it under “Access”.',
    byBrowser:
      'The key of this browser creates it: the share ends if that key is removed. You can also end it under “Access”.',
    label: 'Label',
    labelHint: 'Optional. Only people who can read the locker see it.',
    encrypted: 'The file is encrypted: readers also need the key.',
    make: 'Create a share',
    link: 'the address of the share',
    qr: 'The address as a QR code',
    until: (iso: string) => `It works until ${moment.format(new Date(iso))}.`,
    endless: 'It works until you end it.',
    public: {
      title: 'Use the public link of the locker instead',
      text: 'The public link is not a share: it opens every file of the locker, and you cannot end it for this file alone.',
      show: 'Show the public link',
      link: 'the public link',
      closed: {
        title: 'The public link of this locker is closed',
        text: 'Create a share, or open the public link under “People”.',
      },
    },
  },

  access: {
    title: 'Everything that opens this locker',
    text: 'The key of the owner always opens it. All other ways are listed here, and you can end each one.',
    list: 'Ways into this locker',
    load: 'Show the list',
    loadText: 'Only the owner can see it, with one signature.',
    reload: 'Reload',
    count: (ways: number) => common.counted(ways, 'way', 'ways'),
    nothing: 'Only the owner can open this locker.',
    truncated: 'There are more open uploads than the list shows.',
    kinds: {
      operator: 'Operator',
      public_link: 'Public link',
      share: 'Share',
      s3_key: 'S3 key',
      upload_session: 'Upload in progress',
    },
    whole: 'The whole locker',
    ofUpload: 'The files of this upload',
    permissions: { read: 'read', write: 'write', list: 'list' },
    facts: {
      permissions: 'May',
      expires: 'Expires',
      used: 'Last used',
      created: 'Created',
      by: 'Created by',
      id: 'Id',
    },
    never: 'never',
    unknown: 'unknown',
    unused: 'never, or unknown',
    byOwner: 'the owner',
    byYou: 'the key that you use here',
    allLockers: 'All lockers of the owner',
    copyShare: 'the address of the share',
    copyLabel: 'Copy the address',
    moment: (iso: string) => moment.format(new Date(iso)),
    end: 'End',
    endLabel: (what: string) => `End: ${what}`,
    ended: 'Ended',
    ask: {
      share: {
        title: 'End this share?',
        text: 'Its address stops working immediately and permanently. Copies that were downloaded stay with their readers.',
      },
      s3_key: {
        title: 'End this S3 key?',
        text: 'Programs that use it can no longer open the locker. Another key needs a new secret.',
      },
      wallet_s3_key: {
        title: 'End this S3 key in all lockers?',
        text: 'The key opens all lockers of the owner, and ends in all of them. Programs that use it stop working.',
      },
      operator: {
        title: 'Remove this operator?',
        text: 'This immediately ends all requests by this key, and every share, S3 key, URL and upload that it created. Other keys are not affected.',
      },
      public_link: {
        title: 'Close the public link?',
        text: 'The link stops working immediately. You can open it again under “People”. Shares continue to work, and evidence already published stays public under the receipt id.',
      },
    },
    all: {
      action: 'End all shares, keys and uploads',
      text: 'Ends everything in this list except operators and the public link, and all URLs that are not listed.',
      title: 'End all shares, S3 keys and uploads?',
      session: 'An upload cannot be ended alone: this ends it together with everything below.',
      ends: 'This ends immediately and permanently',
      endsList: [
        'all shares',
        'the access of all S3 keys and S3 credentials to this locker',
        'all download and upload URLs and tokens, also those that are not listed; URLs of a storage provider may work for up to five more minutes',
        'all uploads in progress',
      ],
      stays: 'This stays',
      staysList: [
        'operators: remove them one by one',
        'the public link, which opens every file while it is open: close it separately',
        'the evidence at the receipt id, which is public: names, sizes and hashes of all attested files',
        'copies of files that were downloaded',
      ],
      done: 'All shares, keys and uploads have ended',
    },
  },

  activity: {
    title: 'Activity',
    text: 'What was done to this locker, and what changed who can open it. Files are not listed.',
    list: 'Activity of this locker, newest first',
    load: 'Show the activity',
    ownerSigns: 'The owner signs once.',
    earlier: 'Show earlier ones',
    by: 'by',
    number: (sequence: number) => `No. ${common.number(sequence)}`,
    what: {
      opened: 'Locker opened',
      renewed: 'Renewed',
      renamed: 'Renamed',
      attested: 'Statement made',
      anchoring_changed: 'Anchoring changed',
      operator_added: 'Operator added',
      operator_removed: 'Operator removed',
      operator_named: 'Operator named',
      share_created: 'Share created',
      share_ended: 'Share ended',
      s3_key_created: 'S3 key created',
      s3_key_revoked: 'S3 key ended',
      public_link_opened: 'Public link opened',
      public_link_rotated: 'Id of the public link replaced',
      public_link_closed: 'Public link closed',
      everything_ended: 'All shares, keys and uploads ended',
      frozen: 'Frozen by the admin of the gateway',
      taken_down: 'Taken down by the admin of the gateway',
      restriction_lifted: 'Restriction lifted',
      other: 'Other change',
    },
  },
}
