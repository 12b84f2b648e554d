import NetManager
