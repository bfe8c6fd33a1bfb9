/** The version of this software, defined only here and stamped into builds. The interface has a separate version. */
export const VERSION = '1.1.0'
