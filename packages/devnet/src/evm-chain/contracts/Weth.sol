// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Erc20.sol";

contract Weth is Erc20 {
    function name() public pure override returns (string memory) {
        return "Wrapped Ether";
    }

    function symbol() external pure override returns (string memory) {
        return "WETH";
    }

    function decimals() external pure override returns (uint8) {
        return 18;
    }
}
